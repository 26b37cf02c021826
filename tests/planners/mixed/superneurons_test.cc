#include <gtest/gtest.h>

#include "planners/judge.h"
#include "planners/mixed/mixed.h"
#include "planners/mixed/steps.h"

namespace ebb {
namespace {

constexpr auto kForward = Phase::forward;
constexpr auto kBackward = Phase::backward;

// A convolution, three cheap results of 60 bytes, and back through all of them.
Program one_segment(Bytes loss) {
  return Program::build(
      {.name = "segment", .smallest_managed = 1},
      {op("convolution", kForward, 100, {write(0)}), op("batch_norm", kForward, 10, {read(0), write(1)}),
       op("relu", kForward, 10, {read(1), write(2)}), op("max_pool2d", kForward, 10, {read(2), write(3)}),
       op("convolution", kForward, 100, {read(3), write(4)}), op("loss", kForward, 100, {read(4), write(5)}),
       op("back", kBackward, 100, {read(3)}), op("back", kBackward, 100, {read(2)}),
       op("back", kBackward, 100, {read(1)}), op("back", kBackward, 100, {read(0)})},
      {{60, Lifetime::local, 0, 9},
       {60, Lifetime::local, 1, 8},
       {60, Lifetime::local, 2, 7},
       {60, Lifetime::local, 3, 6},
       {60, Lifetime::local, 4, 5},
       {loss, Lifetime::local, 5, 5}});
}

// Two convolutions whose results wait for backward, one cheap result between them.
Program two_checkpoints() {
  return Program::build(
      {.name = "checkpoints", .smallest_managed = 1},
      {op("convolution", kForward, 100, {write(0)}), op("relu", kForward, 10, {read(0), write(1)}),
       op("convolution", kForward, 100, {read(1), write(2)}), op("relu", kForward, 10, {read(2), write(3)}),
       op("loss", kForward, 100, {read(3), write(4)}), op("back", kBackward, 100, {read(3)}),
       op("back", kBackward, 100, {read(2)}), op("back", kBackward, 100, {read(1)}),
       op("back", kBackward, 100, {read(0)})},
      {{60, Lifetime::local, 0, 8},
       {20, Lifetime::local, 1, 7},
       {60, Lifetime::local, 2, 6},
       {20, Lifetime::local, 3, 5},
       {100, Lifetime::local, 4, 4}});
}

TEST(SuperNeurons, ASmallSegmentIsMadeOnceAndStays) {
  const Program program = one_segment(130);  // the loss needs 190 bytes, the segment has 180
  const Gaps gaps(program);
  const Machine machine = plain_machine();
  const JudgedPlan judged =
      plan_and_judge(find_planner("superneurons-recompute"), {program, gaps, machine, 300}, {});
  ASSERT_FALSE(judged.infeasible);
  EXPECT_EQ(judged.step.recompute_time, 30);
  EXPECT_EQ(judged.step.step_time, 730 + 30);
}

TEST(SuperNeurons, ALargeSegmentIsMadeAgainForEveryLayer) {
  const Program program = one_segment(30);  // no op needs more than 120 bytes
  const Gaps gaps(program);
  const Machine machine = plain_machine();
  const JudgedPlan judged =
      plan_and_judge(find_planner("superneurons-recompute"), {program, gaps, machine, 250}, {});
  ASSERT_FALSE(judged.infeasible);
  EXPECT_EQ(judged.step.recompute_time, 30 + 20 + 10);
}

TEST(SuperNeurons, TheCheckpointUsedLongestAgoLeavesFirstAndOthersStayWhileThereIsRoom) {
  const Program program = two_checkpoints();
  const Gaps gaps(program);
  const Machine machine = plain_machine();
  const PlanningResult result = plan_superneurons({program, gaps, machine, 200}, {});
  ASSERT_FALSE(result.infeasible);
  EXPECT_EQ(result.plan[gaps.find(0, 1)].action, Action::swap);
  EXPECT_EQ(result.plan[gaps.find(1, 2)].action, Action::recompute);
  EXPECT_EQ(result.plan[gaps.find(2, 3)].action, Action::keep);
}

TEST(SuperNeurons, ACheckpointReturnsWhileBackwardWorksOnTheOneAfterIt) {
  const Program program = two_checkpoints();
  const Gaps gaps(program);
  const Machine machine = plain_machine();
  const PlanningResult result = plan_superneurons_swap({program, gaps, machine, 200}, {});
  ASSERT_FALSE(result.infeasible);
  EXPECT_EQ(result.plan[gaps.find(0, 1)].in_from, 6);  // where block 2 is read
}

TEST(SuperNeurons, EachModeDoesOnlyItsPart) {
  const Program program = two_checkpoints();
  const Gaps gaps(program);
  const Machine machine = plain_machine();
  const PlanningResult swaps = plan_superneurons_swap({program, gaps, machine, 140}, {});
  ASSERT_FALSE(swaps.infeasible);
  EXPECT_EQ(swaps.plan[gaps.find(0, 1)].action, Action::swap);
  EXPECT_EQ(swaps.plan[gaps.find(1, 2)].action, Action::keep);
  EXPECT_EQ(swaps.plan[gaps.find(2, 3)].action, Action::swap);
  const PlanningResult recomputes = plan_superneurons_recompute({program, gaps, machine, 240}, {});
  ASSERT_FALSE(recomputes.infeasible);
  EXPECT_EQ(recomputes.plan[gaps.find(0, 1)].action, Action::keep);
  EXPECT_EQ(recomputes.plan[gaps.find(1, 2)].action, Action::recompute);
  EXPECT_EQ(recomputes.plan[gaps.find(2, 3)].action, Action::keep);
  EXPECT_TRUE(plan_superneurons_recompute({program, gaps, machine, 239}, {}).infeasible);
}

// x1 = relu(x0 + conv), x2 = relu(x1 + conv): making x2 again would take x1, which would take x0.
TEST(SuperNeurons, AJoinThatReadsAnEarlierSegmentIsACheckpoint) {
  const Program program = Program::build(
      {.name = "residual", .smallest_managed = 1},
      {op("relu", kForward, 10, {read(5), write(0)}), op("convolution", kForward, 100, {read(0), write(1)}),
       op("add_relu", kForward, 10, {read(0), read(1), write(2)}),
       op("loss", kForward, 100, {read(2), write(3)}), op("other", kForward, 100, {write(4)}),
       op("back", kBackward, 100, {read(2)}), op("back", kBackward, 100, {read(1)}),
       op("back", kBackward, 100, {read(0)})},
      {{60, Lifetime::local, 0, 7},
       {60, Lifetime::local, 1, 6},
       {60, Lifetime::local, 2, 5},
       {60, Lifetime::local, 3, 3},
       {60, Lifetime::local, 4, 4},
       {60, Lifetime::persistent, kNoOp, kNoOp}});
  const Gaps gaps(program);
  const Machine machine = plain_machine();
  const PlanningResult result = plan_superneurons_recompute({program, gaps, machine, 250}, {});
  ASSERT_FALSE(result.infeasible);
  EXPECT_EQ(result.plan[gaps.find(0, 2)].action, Action::recompute);
  EXPECT_EQ(result.plan[gaps.find(2, 3)].action, Action::keep);
}

}  // namespace
}  // namespace ebb
