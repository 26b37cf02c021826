#include "planners/least_limit.h"

#include <gtest/gtest.h>

#include "machine/presets.h"
#include "plan/smallest_limit.h"
#include "trace/load.h"

namespace ebb {
namespace {

class LeastLimitOfUnet : public testing::Test {
 protected:
  LeastLimit find(const std::string& planner, PlannerOptions options = {}) {
    if (planner == "ebb") options = {.evaluations = 20, .settings = {{"footprint", 0}}};
    return find_least_limit(program, gaps, find_preset("h200"), find_planner(planner), options);
  }
  const Program program = load_program(EBB_SOURCE_DIR "/data/unet.json.gz");
  const Gaps gaps{program};
};

TEST_F(LeastLimitOfUnet, IsTheNeedOfOneOpWhereEverythingMayMove) {
  const LeastLimit least = find("ebb");
  EXPECT_TRUE(least.proved);
  EXPECT_EQ(least.limit, largest_op_need(program).bytes);
  ASSERT_FALSE(least.plan.infeasible);
  EXPECT_LE(least.plan.step.peak_demand, least.limit);
}

TEST_F(LeastLimitOfUnet, IsThePeakIfNothingMoves) {
  const LeastLimit least = find("keep");
  EXPECT_EQ(least.limit, program.peak_demand());
  EXPECT_FALSE(least.plan.infeasible);
}

TEST_F(LeastLimitOfUnet, IsBetweenTheTwoForPlansThatOnlyRecompute) {
  const LeastLimit least = find("drop-cheap");
  EXPECT_FALSE(least.proved);
  EXPECT_LT(least.limit, program.peak_demand());
  EXPECT_GT(least.limit, largest_op_need(program).bytes);
  ASSERT_FALSE(least.plan.infeasible);
  EXPECT_LE(least.plan.step.peak_demand, least.limit);
}

}  // namespace
}  // namespace ebb
