// What every planner must do, whatever it is. A planner joins by being registered.
#include <gtest/gtest.h>

#include <cctype>

#include "machine/presets.h"
#include "plan/smallest_limit.h"
#include "planners/judge.h"
#include "random_programs.h"
#include "trace/load.h"

namespace ebb {
namespace {

class Conformance : public testing::TestWithParam<Planner> {};

INSTANTIATE_TEST_SUITE_P(Planners, Conformance, testing::ValuesIn(planners().begin(), planners().end()),
                         [](const auto& info) {
                           std::string name(info.param.name);
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

struct RandomProblem {
  Random random;
  Program program = random_program(random);
  Gaps gaps{program};
  Machine machine = random_machine(random);
  Bytes limit = random_limit(random, program);

  explicit RandomProblem(std::uint64_t seed) : random(seed) {}
  PlanningProblem at(Bytes bytes) const { return {program, gaps, machine, bytes}; }
  PlanningProblem at_its_limit() const { return at(limit); }
};

// Searches get a small budget here: rules hold at any.
const PlannerOptions kQuick{.evaluations = 60};

void expect_valid(const PlanningProblem& problem, const JudgedPlan& judged) {
  if (judged.infeasible) {
    EXPECT_NE(judged.infeasible->obstacle, Obstacle::none);
    EXPECT_FALSE(judged.infeasible->sentence(problem.program).empty());
    return;
  }
  EXPECT_LE(judged.step.peak_demand, problem.limit);
  EXPECT_GE(judged.step.step_time, judged.step.plain_time - judged.step.plain_time / 1'000'000);
  for (const Violation& violation : judged.violations) ADD_FAILURE() << violation.sentence;
}

TEST_P(Conformance, GivesAValidPlanOrTheReasonWhyNot) {
  int feasible = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomProblem random(seed);
    const PlanningProblem problem = random.at_its_limit();
    const JudgedPlan judged = plan_and_judge(GetParam(), problem, kQuick);
    feasible += judged.infeasible ? 0 : 1;
    expect_valid(problem, judged);
  }
  EXPECT_GT(feasible, 0);
}

TEST_P(Conformance, TheSameSeedGivesTheSamePlan) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const RandomProblem random(seed);
    const PlanningProblem problem = random.at_its_limit();
    const PlanningResult first = GetParam().plan(problem, {.seed = 7, .evaluations = 60});
    const PlanningResult second = GetParam().plan(problem, {.seed = 7, .evaluations = 60});
    EXPECT_EQ(first.plan, second.plan) << "seed " << seed;
    EXPECT_EQ(first.infeasible.has_value(), second.infeasible.has_value()) << "seed " << seed;
  }
}

TEST_P(Conformance, LeavesAStepThatFitsAlone) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    RandomProblem random(seed);
    random.machine.follow_issue = 0;  // it costs that even to follow a plan that does nothing
    const JudgedPlan judged = plan_and_judge(GetParam(), random.at(random.program.peak_demand()), kQuick);
    ASSERT_FALSE(judged.infeasible) << "seed " << seed;
    EXPECT_EQ(judged.step.step_time, judged.step.plain_time) << "seed " << seed;
  }
}

TEST_P(Conformance, SaysThatALimitBelowTheLargestOpIsOutOfReach) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const RandomProblem random(seed);
    const PlanningProblem problem = random.at(largest_op_need(random.program).bytes - 1);
    const JudgedPlan judged = plan_and_judge(GetParam(), problem, kQuick);
    ASSERT_TRUE(judged.infeasible) << "seed " << seed;
    EXPECT_EQ(judged.infeasible->obstacle, Obstacle::too_large) << "seed " << seed;
    EXPECT_EQ(judged.infeasible->available, problem.limit) << "seed " << seed;
  }
}

TEST_P(Conformance, UsesOnlyTheActionsItIsAllowed) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const RandomProblem random(seed);
    const PlanningProblem problem = random.at_its_limit();
    const auto without_swap = GetParam().plan(problem, {.evaluations = 60, .allow_swap = false});
    const auto without_recompute = GetParam().plan(problem, {.evaluations = 60, .allow_recompute = false});
    for (GapId g = 0; g < random.gaps.count(); ++g) {
      EXPECT_TRUE(without_swap.infeasible || without_swap.plan[g].action != Action::swap) << "seed " << seed;
      EXPECT_TRUE(without_recompute.infeasible || without_recompute.plan[g].action != Action::recompute)
          << "seed " << seed;
    }
  }
}

TEST_P(Conformance, KeepsTheLimitOnRecordedSteps) {
  for (const char* trace : {"resnet50", "gpt2", "unet", "vgg16"}) {
    const Program program = load_program(std::string(EBB_SOURCE_DIR "/data/") + trace + ".json.gz");
    const Gaps gaps(program);
    for (const int percent : {100, 50}) {
      SCOPED_TRACE(testing::Message() << trace << " at " << percent << " %");
      const PlanningProblem problem{program, gaps, find_preset("h200"),
                                    program.peak_demand() / 100 * percent};
      expect_valid(problem, plan_and_judge(GetParam(), problem, kQuick));
    }
  }
}

}  // namespace
}  // namespace ebb
