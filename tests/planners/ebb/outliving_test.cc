#include "planners/ebb/outliving.h"

#include <gtest/gtest.h>

#include "literal_programs.h"
#include "machine/presets.h"
#include "planners/ebb/ebb.h"
#include "planners/evaluator.h"
#include "planners/judge.h"

namespace ebb {
namespace {

// A small result that takes long is spread into two large ones, which are read again in reverse:
//   op          0   1   2   3   4   5
//   0 small     W   R   R                  freed after op 2
//   1 large         W           .   R
//   2 large             W       R
//   3 working               W              as large as both
Program spread() {
  return literal_program({op({writes(0)}, 1000), op({reads(0), writes(1)}), op({reads(0), writes(2)}),
                          op({writes(3)}), op({reads(2)}), op({reads(1)})},
                         {local(4, 0, 2), local(40, 1, 5), local(40, 2, 4), local(80, 3, 3)});
}

Machine without_a_link() {
  Machine machine = find_preset("h200");
  machine.bandwidth_in = machine.bandwidth_out = 1;
  return machine;
}

TEST(Outliving, ABlockServesWhatIsMadeFromItAndReadAfterItsDeath) {
  const Program program = spread();
  const Gaps gaps(program);
  const Machine machine = without_a_link();
  const std::vector<OutlivingBlock> found = find_outliving({program, gaps, machine, 100});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(gaps[found[0].gap].block, 0);
  EXPECT_EQ(found[0].serves, 80);
  EXPECT_EQ(found[0].until, 5);
  EXPECT_TRUE(found[0].is_worthwhile());
}

TEST(Outliving, TheSmallResultIsKeptAndTheLargeOnesAreMadeFromIt) {
  const Program program = spread();
  const Gaps gaps(program);
  const Machine machine = without_a_link();
  const PlanningProblem problem{program, gaps, machine, 90};
  const PlanningResult result = plan_ebb(problem, {.settings = {{"footprint", 0}}});
  ASSERT_FALSE(result.infeasible);
  const JudgedPlan judged = judge(problem, result.plan);
  EXPECT_TRUE(judged.violations.empty());
  EXPECT_EQ(judged.step.step_time, judged.step.plain_time + 20);
}

TEST(Outliving, IsTrimmedToTheLastReplayThatReadsIt) {
  const Program program = spread();
  const Gaps gaps(program);
  const Machine machine = without_a_link();
  const PlanningProblem problem{program, gaps, machine, 170};
  const std::vector<OutlivingBlock> found = find_outliving(problem);
  Plan plan = Plan::keep_all(gaps);
  keep_until(plan, gaps, found[0].gap, 6);
  plan[gaps.find(2, 2)] = recompute_it();
  Evaluator evaluate(problem);
  ASSERT_FALSE(evaluate(plan).infeasible);
  EXPECT_TRUE(trim_outliving(problem, found, evaluate.lowered(), plan));
  EXPECT_EQ(plan[found[0].gap].stays->back().end, 5);
  plan[gaps.find(2, 2)] = Decision{};
  ASSERT_FALSE(evaluate(plan).infeasible);
  EXPECT_TRUE(trim_outliving(problem, found, evaluate.lowered(), plan));
  EXPECT_FALSE(is_kept_past_death(plan, gaps, found[0].gap));
}

}  // namespace
}  // namespace ebb
