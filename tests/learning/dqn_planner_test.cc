#include "learning/dqn_planner.h"

#include <gtest/gtest.h>

#include "machine/presets.h"
#include "planners/dqn/small_step.h"
#include "planners/judge.h"
#include "trace/load.h"

namespace ebb::learning {
namespace {

const Planner& dqn_planner() {
  static const bool registered = register_dqn();
  EXPECT_TRUE(registered);
  return find_planner("dqn");
}

struct Step {
  Program program = load_program(EBB_SOURCE_DIR "/data/unet.json.gz");
  Gaps gaps{program};
  Machine machine = find_preset("gtx1080ti");
  PlanningProblem at(int percent) const {
    return {program, gaps, machine, program.peak_demand() / 100 * percent};
  }
};

TEST(DqnPlanner, PlansARecordedStepWithinTheLimit) {
  const Step step;
  const JudgedPlan judged = plan_and_judge(dqn_planner(), step.at(70), {.evaluations = 8});
  ASSERT_FALSE(judged.infeasible);
  EXPECT_LE(judged.step.peak_demand, step.at(70).limit);
  EXPECT_TRUE(judged.violations.empty());
  EXPECT_EQ(judged.rounds.size(), 8u);
  EXPECT_EQ(judged.rounds.back().best, judged.step.step_time);
}

TEST(DqnPlanner, TheSameSeedAndEpisodesGiveTheSamePlanAndKnowledge) {
  const Step step;
  const PlannerOptions options{.seed = 5, .evaluations = 6};
  const PlanningResult first = dqn_planner().plan(step.at(70), options);
  const PlanningResult second = dqn_planner().plan(step.at(70), options);
  EXPECT_EQ(first.plan, second.plan);
  EXPECT_EQ(first.rounds, second.rounds);
  EXPECT_EQ(first.knowledge, second.knowledge);
}

TEST(DqnPlanner, UsesOnlyTheActionsItIsAllowed) {
  const Step step;
  PlannerOptions swap_only{.evaluations = 3, .allow_recompute = false};
  PlannerOptions recompute_only{.evaluations = 3, .allow_swap = false};
  const PlanningResult swaps = dqn_planner().plan(step.at(80), swap_only);
  const PlanningResult recomputes = dqn_planner().plan(step.at(80), recompute_only);
  for (GapId g = 0; g < step.gaps.count(); ++g) {
    EXPECT_TRUE(swaps.infeasible || swaps.plan[g].action != Action::recompute);
    EXPECT_TRUE(recomputes.infeasible || recomputes.plan[g].action != Action::swap);
  }
}

TEST(DqnPlanner, LearnsToAvoidASlowLink) {
  // A copy takes as long as thirty ops; what is removed costs a few.
  const dqn::ChainProblem chain(24, 12 * 150, {}, {}, 50'000'000);
  const JudgedPlan judged = plan_and_judge(dqn_planner(), chain.problem, {.evaluations = 40});
  ASSERT_FALSE(judged.infeasible);
  double early = 0, late = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    early += static_cast<double>(judged.rounds[i].mean);
    late += static_cast<double>(judged.rounds[judged.rounds.size() - 1 - i].mean);
  }
  EXPECT_LT(late, early / 2);
}

TEST(DqnPlanner, KnowledgeOfOneStepStartsAnother) {
  const dqn::ChainProblem small(12, 6 * 150), large(24, 12 * 150);
  PlannerOptions options{.evaluations = 20};
  options.knowledge = dqn_planner().plan(small.problem, options).knowledge;
  ASSERT_FALSE(options.knowledge.empty());
  const PlanningResult result = dqn_planner().plan(large.problem, options);
  EXPECT_FALSE(result.infeasible);
  EXPECT_NE(result.knowledge, options.knowledge);
}

}  // namespace
}  // namespace ebb::learning
