#include <gtest/gtest.h>

#include "planners/judge.h"
#include "planners/mixed/mixed.h"
#include "planners/mixed/steps.h"

namespace ebb {
namespace {

// Blocks of 60 bytes, 100 ns per op but the relu.
//
//   op       0 conv  1 relu  2 conv  3 loss  4 back  5 back  6 back
//   block 0  W.......R.......................................R
//   block 1          W.......R.......................R
//   block 2                  W...............R
//   block 3                          W
Program three_maps(Nanoseconds relu) {
  const auto f = Phase::forward;
  const auto b = Phase::backward;
  return Program::build(
      {.name = "three maps", .smallest_managed = 1},
      {op("convolution", f, 100, {write(0)}), op("relu", f, relu, {read(0), write(1)}),
       op("convolution", f, 100, {read(1), write(2)}), op("loss", f, 100, {write(3)}),
       op("back", b, 100, {read(2)}), op("back", b, 100, {read(1)}), op("back", b, 100, {read(0)})},
      {{60, Lifetime::local, 0, 6},
       {60, Lifetime::local, 1, 5},
       {60, Lifetime::local, 2, 4},
       {60, Lifetime::local, 3, 3}});
}

Machine link(Bytes bytes_per_second) {
  Machine machine;
  machine.bandwidth_in = machine.bandwidth_out = bytes_per_second;
  return machine;
}

TEST(Capuchin, SwapsTheGapWithTheMostFreeTimeAndNoMoreThanNeeded) {
  const Program program = three_maps(10);
  const Gaps gaps(program);
  const Machine machine = link(1'000'000'000);
  // One block is too many at op 3. Free times: 400, 200 and 100 less 2 · 60 ns for the copies.
  const JudgedPlan judged = plan_and_judge(find_planner("capuchin"), {program, gaps, machine, 180}, {});
  ASSERT_FALSE(judged.infeasible);
  EXPECT_EQ(judged.lowered.plan[gaps.find(0, 1)].action, Action::swap);
  EXPECT_EQ(judged.lowered.plan[gaps.find(1, 2)].action, Action::keep);
  EXPECT_EQ(judged.lowered.plan[gaps.find(2, 2)].action, Action::keep);
  EXPECT_EQ(judged.step.step_time, 610);
  // Needed at 510 ns less 60 for the copy: while op 5 runs, which starts at 410; there is room from op 4 on.
  EXPECT_EQ(judged.lowered.plan[gaps.find(0, 1)].in_from, 5);
}

TEST(Capuchin, RecomputesWhereThatCostsLessThanASwapThatDoesNotHide) {
  const Program program = three_maps(10);
  const Gaps gaps(program);
  const Machine machine = link(500'000'000);
  // Block 1's swap would be 40 ns too long for its gap, block 2's 140; the relu takes 10 again.
  const PlanningResult result = plan_capuchin({program, gaps, machine, 120}, {});
  ASSERT_FALSE(result.infeasible);
  EXPECT_EQ(result.plan[gaps.find(0, 1)].action, Action::swap);
  EXPECT_EQ(result.plan[gaps.find(1, 2)].action, Action::recompute);
  EXPECT_EQ(result.plan[gaps.find(2, 2)].action, Action::keep);
}

TEST(Capuchin, SwapsWhereRecomputingCostsMore) {
  const Program program = three_maps(60);
  const Gaps gaps(program);
  const Machine machine = link(500'000'000);
  const PlanningResult result = plan_capuchin({program, gaps, machine, 120}, {});
  ASSERT_FALSE(result.infeasible);
  EXPECT_EQ(result.plan[gaps.find(1, 2)].action, Action::swap);
}

// Two blocks leave and are needed within 10 ns of each other: the second copy back is late because the first
// starts no earlier than it has to, until a run has shown it.
TEST(Capuchin, TriggersCopiesEarlierWhereARunShowsAWait) {
  const auto f = Phase::forward;
  const auto b = Phase::backward;
  const Program program =
      Program::build({.name = "late", .smallest_managed = 1},
                     {op("make", f, 100, {write(0)}), op("make", f, 100, {write(1)}),
                      op("loss", f, 100, {write(2)}), op("back", b, 100, {}), op("back", b, 100, {}),
                      op("back", b, 10, {read(0)}), op("back", b, 100, {read(1)})},
                     {{60, Lifetime::local, 0, 5}, {60, Lifetime::local, 1, 6}, {80, Lifetime::local, 2, 2}});
  const Gaps gaps(program);
  const Machine machine = link(1'000'000'000);
  const JudgedPlan judged = plan_and_judge(find_planner("capuchin"), {program, gaps, machine, 120}, {});
  ASSERT_FALSE(judged.infeasible);
  EXPECT_EQ(judged.lowered.swaps.size(), 2u);
  // Op 2 waits 60 ns for block 1 to leave; nobody waits for a copy back.
  EXPECT_EQ(judged.step.stalls[static_cast<std::size_t>(StallCause::room)], 60);
  EXPECT_EQ(judged.step.stalls[static_cast<std::size_t>(StallCause::copy_in)], 0);
  EXPECT_EQ(judged.evaluations, 3);  // the selection, the run that showed the wait, the one without
}

TEST(Capuchin, SaysWhatDoesNotFit) {
  const Program program = three_maps(10);
  const Gaps gaps(program);
  const Machine machine = link(1'000'000'000);
  const PlanningResult result = plan_capuchin({program, gaps, machine, 119}, {});
  ASSERT_TRUE(result.infeasible);
  EXPECT_EQ(result.infeasible->obstacle, Obstacle::too_large);
  EXPECT_EQ(result.infeasible->needed, 120);
}

}  // namespace
}  // namespace ebb
