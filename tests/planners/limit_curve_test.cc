#include "planners/limit_curve.h"

#include <gtest/gtest.h>

#include "machine/presets.h"
#include "trace/load.h"

namespace ebb {
namespace {

std::vector<JudgedPlan> unet_curve(const std::string& planner, const std::vector<int>& percents) {
  const Program program = load_program(EBB_SOURCE_DIR "/data/unet.json.gz");
  const Gaps gaps(program);
  std::vector<Bytes> limits;
  for (const int percent : percents) limits.push_back(program.peak_demand() / 100 * percent);
  PlannerOptions options{.evaluations = 30};
  if (planner == "ebb") options.settings["footprint"] = 0;
  return find_curve({program, gaps, find_preset("h200"), find_planner(planner), options}, limits);
}

TEST(LimitCurve, ASearchIsNeverSlowerWithMoreMemory) {
  const std::vector<JudgedPlan> curve = unet_curve("ebb", {80, 60, 50});
  for (std::size_t i = 0; i < curve.size(); ++i) {
    ASSERT_FALSE(curve[i].infeasible) << i;
    EXPECT_TRUE(curve[i].violations.empty()) << i;
    if (i == 0) continue;
    EXPECT_LE(curve[i - 1].step.step_time, curve[i].step.step_time) << i;
  }
}

TEST(LimitCurve, OtherPlannersAnswerEachLimitByThemselves) {
  const std::vector<JudgedPlan> curve = unet_curve("greedy", {80, 1});
  EXPECT_FALSE(curve[0].infeasible);
  ASSERT_TRUE(curve[1].infeasible);
  EXPECT_EQ(curve[1].infeasible->obstacle, Obstacle::too_large);
}

}  // namespace
}  // namespace ebb
