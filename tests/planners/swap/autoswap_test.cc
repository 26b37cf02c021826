#include <gtest/gtest.h>

#include "machine/presets.h"
#include "plan/smallest_limit.h"
#include "planners/judge.h"
#include "random_programs.h"
#include "trace/load.h"

namespace ebb {
namespace {

constexpr std::array kScoreNames = {"autoswap-doa", "autoswap-aoa", "autoswap-wdoa", "autoswap-swdoa"};

void expect_best_of_four(const PlanningProblem& problem, const PlannerOptions& options) {
  const JudgedPlan mixed = plan_and_judge(find_planner("autoswap-bo"), problem, options);
  for (const char* name : kScoreNames) {
    const JudgedPlan single = plan_and_judge(find_planner(name), problem, options);
    if (single.infeasible) continue;
    ASSERT_FALSE(mixed.infeasible) << name;
    EXPECT_LE(mixed.step.step_time, single.step.step_time) << name;
  }
}

TEST(AutoSwap, TheMixIsNeverWorseThanTheBestScoreOnRecordedSteps) {
  for (const char* trace : {"unet", "vgg16"}) {
    const Program program = load_program(std::string(EBB_SOURCE_DIR "/data/") + trace + ".json.gz");
    const Gaps gaps(program);
    for (const char* machine : {"h200", "v100-pcie3"})
      for (const int percent : {90, 75, 60}) {
        SCOPED_TRACE(testing::Message() << trace << " on " << machine << " at " << percent << " %");
        expect_best_of_four({program, gaps, find_preset(machine), program.peak_demand() / 100 * percent},
                            {.evaluations = 10});
      }
  }
}

TEST(AutoSwap, TheMixIsNeverWorseThanTheBestScoreOnRandomPrograms) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Program program = random_program(random);
    const Gaps gaps(program);
    const Machine machine = random_machine(random);
    expect_best_of_four({program, gaps, machine, random_limit(random, program)}, {.evaluations = 8});
  }
}

TEST(AutoSwap, MixingFindsPlansThatNoSingleScoreHas) {
  const Program program = load_program(EBB_SOURCE_DIR "/data/vgg16.json.gz");
  const Gaps gaps(program);
  const PlanningProblem problem{program, gaps, find_preset("h200"), program.peak_demand() / 10 * 8};
  const PlanningResult four = find_planner("autoswap-bo").plan(problem, {.evaluations = 4});
  const PlanningResult mixed = find_planner("autoswap-bo").plan(problem, {});
  EXPECT_LT(mixed.rounds.back().best, four.rounds.back().best);
  EXPECT_LE(mixed.evaluations, 40);
}

TEST(AutoSwap, SimulatesNoMoreThanItMay) {
  const Program program = load_program(EBB_SOURCE_DIR "/data/unet.json.gz");
  const Gaps gaps(program);
  const PlanningProblem problem{program, gaps, find_preset("h200"), program.peak_demand() / 2};
  for (const std::int64_t budget : {1, 3, 7, 20}) {
    const PlanningResult result = find_planner("autoswap-bo").plan(problem, {.evaluations = budget});
    EXPECT_LE(result.evaluations, budget);
    EXPECT_FALSE(result.infeasible);
  }
}

TEST(AutoSwap, ReportsLoadMinAndServesLimitsBelowIt) {
  const Program program = load_program(EBB_SOURCE_DIR "/data/resnet50.json.gz");
  const Gaps gaps(program);
  const PlanningProblem generous{program, gaps, find_preset("h200"), program.peak_demand() / 2};
  const PlanningResult result = find_planner("autoswap-swdoa").plan(generous, {});
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].name, "load_min");
  const auto load_min = static_cast<Bytes>(result.findings[0].value);
  const Bytes smallest = largest_op_need(program).bytes;
  ASSERT_LT(smallest, load_min);
  for (const Bytes limit : {load_min, load_min - 1, (load_min + smallest) / 2, smallest}) {
    const PlanningProblem problem{program, gaps, find_preset("h200"), limit};
    const JudgedPlan judged = plan_and_judge(find_planner("autoswap-swdoa"), problem, {});
    ASSERT_FALSE(judged.infeasible) << judged.infeasible->sentence(program);
    EXPECT_TRUE(judged.violations.empty());
    EXPECT_LE(judged.step.peak_demand, limit);
  }
}

}  // namespace
}  // namespace ebb
