#include "planners/ebb/ebb.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "layout/fit_plan.h"
#include "machine/presets.h"
#include "planners/ebb/choices.h"
#include "planners/ebb/enumerate.h"
#include "planners/judge.h"
#include "random_programs.h"
#include "trace/load.h"

namespace ebb {
namespace {

const std::map<std::string, double, std::less<>> kByLoad = {{"footprint", 0}};

// Every combination of keep, swap and recompute over all gaps, timing by default. 0: none keeps the limit.
Nanoseconds best_of_all(const PlanningProblem& problem) {
  Evaluator evaluate(problem);
  Plan plan = Plan::keep_all(problem.gaps);
  Nanoseconds best = 0;
  auto visit = [&](auto& self, GapId g) -> void {
    if (g == problem.gaps.count()) {
      const StepResult step = evaluate(plan);
      if (!step.infeasible && (best == 0 || step.step_time < best)) best = step.step_time;
      return;
    }
    for (const Action action : {Action::keep, Action::swap, Action::recompute}) {
      plan[g] = untimed(action);
      self(self, g + 1);
    }
  };
  visit(visit, 0);
  return best;
}

TEST(Ebb, IsNeverWorseThanTryingEverythingOnSmallPrograms) {
  const int wanted = std::getenv("EBB_SOAK") ? 1000 : 60;
  int seen = 0, hard = 0;
  for (std::uint64_t seed = 1; seen < wanted; ++seed) {
    Random random(seed);
    const Program program = random_program(random);
    const Gaps gaps(program);
    const Machine machine = random_machine(random);
    const Bytes limit = random_limit(random, program);
    if (gaps.count() > 9) continue;
    ++seen;
    const PlanningProblem problem{program, gaps, machine, limit};
    const Nanoseconds best = best_of_all(problem);
    const PlanningResult result = plan_ebb(problem, {.settings = kByLoad});
    ASSERT_EQ(best == 0, result.infeasible.has_value()) << "seed " << seed;
    if (best == 0) continue;
    const JudgedPlan judged = judge(problem, result.plan);
    hard += judged.step.step_time > judged.step.plain_time;
    EXPECT_LE(judged.step.step_time, best) << "seed " << seed;
  }
  EXPECT_GT(hard, 0);
}

struct RecordedStep {
  Program program;
  Gaps gaps{program};
  explicit RecordedStep(const std::string& name)
      : program(load_program(EBB_SOURCE_DIR "/data/" + name + ".json.gz")) {}
  PlanningProblem at(int percent) const {
    return {program, gaps, find_preset("h200"), program.peak_demand() / 100 * percent};
  }
};

TEST(Ebb, IsNeverWorseThanThePlanItIsGiven) {
  const RecordedStep unet("unet");
  const PlanningProblem problem = unet.at(60);
  const Plan start = plan_ebb(problem, {.seed = 3, .evaluations = 200, .settings = kByLoad}).plan;
  const PlanningResult result =
      plan_ebb(problem, {.seed = 5, .evaluations = 40, .start = start, .settings = kByLoad});
  ASSERT_FALSE(result.infeasible);
  EXPECT_LE(judge(problem, result.plan).step.step_time, judge(problem, start).step.step_time);
}

TEST(Ebb, CompletesAPlanThatWasMadeForMoreMemory) {
  const RecordedStep unet("unet");
  const Plan roomy = plan_ebb(unet.at(70), {.evaluations = 100, .settings = kByLoad}).plan;
  ASSERT_TRUE(judge(unet.at(50), roomy).infeasible);
  const PlanningResult result =
      plan_ebb(unet.at(50), {.evaluations = 1, .start = roomy, .settings = kByLoad});
  EXPECT_FALSE(judge(unet.at(50), result.plan).infeasible);
}

TEST(Ebb, PlansAgainUntilThePackedFootprintKeepsTheLimit) {
  const RecordedStep unet("unet");
  const PlanningProblem problem = unet.at(50);
  const PlanningResult result = plan_ebb(problem, {.evaluations = 100});
  ASSERT_FALSE(result.infeasible);
  const layout::FittedPlan fitted = layout::fit_plan(
      {problem.program, problem.gaps, problem.machine, problem.limit}, result.plan, {.deadline_seconds = 0});
  EXPECT_TRUE(fitted.fits);
  EXPECT_LE(fitted.footprint, problem.limit);
  bool said = false;
  for (const Finding& finding : result.findings) said = said || finding.name == "packed footprint";
  EXPECT_TRUE(said);
}

TEST(Ebb, SearchesToTheFinishInTheEvaluationsItIsGiven) {
  const RecordedStep unet("unet");
  for (const int threads : {1, 2}) {
    const PlanningResult result =
        plan_ebb(unet.at(50), {.evaluations = 4'000, .threads = threads, .settings = kByLoad});
    EXPECT_GT(result.evaluations, 3'500);
    EXPECT_LT(result.evaluations, 4'100);
  }
}

TEST(Ebb, LeavesTimeForPackingWhereADeadlineEndsTheSearch) {
  const RecordedStep vgg("vgg16");
  const PlanningResult result = plan_ebb(vgg.at(90), {.deadline_seconds = 5, .evaluations = 1'000'000'000});
  bool said = false;
  for (const Finding& finding : result.findings) said = said || finding.name == "packed footprint";
  EXPECT_TRUE(said);
  EXPECT_TRUE(result.cut_short);
}

TEST(Ebb, FindsTheSamePlanWithOneThreadAndWithTwo) {
  const RecordedStep unet("unet");
  const PlanningResult one = plan_ebb(unet.at(60), {.evaluations = 600, .threads = 1, .settings = kByLoad});
  const PlanningResult two = plan_ebb(unet.at(60), {.evaluations = 600, .threads = 2, .settings = kByLoad});
  EXPECT_EQ(one.plan, two.plan);
}

TEST(Ebb, SearchesBeyondItsStart) {
  const RecordedStep resnet("resnet50");
  const PlanningProblem problem = resnet.at(50);
  const PlanningResult little = plan_ebb(problem, {.evaluations = 1, .settings = kByLoad});
  const PlanningResult more = plan_ebb(problem, {.evaluations = 2000, .settings = kByLoad});
  ASSERT_FALSE(little.infeasible || more.infeasible);
  EXPECT_LT(judge(problem, more.plan).step.step_time, judge(problem, little.plan).step.step_time);
}

TEST(Ebb, SaysHowTheStepTimeVariesWithTheDurations) {
  const RecordedStep unet("unet");
  const PlanningResult result = plan_ebb(unet.at(60), {.evaluations = 100, .settings = kByLoad});
  bool found = false;
  for (const Finding& finding : result.findings)
    if (finding.name.starts_with("worst")) found = finding.value >= 1;
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace ebb
