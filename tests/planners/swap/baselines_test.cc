#include <gtest/gtest.h>

#include "literal_programs.h"
#include "planners/judge.h"
#include "planners/swap/layers.h"
#include "planners/swap/plain_clock.h"

namespace ebb {
namespace {

Machine link(Bytes bytes_per_second) {
  Machine machine;
  machine.bandwidth_in = machine.bandwidth_out = bytes_per_second;
  return machine;
}
constexpr Bytes kFast = 1'000'000'000;  // 60 bytes in 60 ns
constexpr Bytes kSlow = 100'000'000;    // 60 bytes in 600 ns

// Weights 0 to 2 make a layer each way. Activation 3 is made in layer 0 and 4 in layer 1; both are read again
// in reverse; op 3 brings another 60 bytes.
Program three_layers() {
  return literal_program(
      {op({reads(0), writes(3)}, 100), op({reads(1), reads(3), writes(4)}, 100),
       op({reads(2), reads(4)}, 100), op({reads(4), writes(5)}, 100), op({reads(5)}, 100),
       op({reads(1), reads(4)}, 100), op({reads(0), reads(3)}, 100)},
      {persistent(1), persistent(1), persistent(1), local(60, 0, 6), local(60, 1, 5), local(60, 3, 4)});
}

struct Case {
  const Program program = three_layers();
  const Gaps gaps{program};
  const Machine machine;
  explicit Case(Bytes bandwidth) : machine(link(bandwidth)) {}
  JudgedPlan plan(const char* planner, Bytes limit) const {
    return plan_and_judge(find_planner(planner), {program, gaps, machine, limit}, {});
  }
};

TEST(PlainClock, AnOpWaitsForItsIssueTimeAndStepsRepeat) {
  Program program = literal_program({op({}, 10), op({}, 20)}, {});
  std::vector<Op> ops = program.ops();
  ops[1].issue = 25;
  program = Program::build({.smallest_managed = 1}, ops, {});
  const PlainClock clock(program, link(kFast));
  EXPECT_EQ(clock.end(0), 10);
  EXPECT_EQ(clock.start(1), 25);
  EXPECT_EQ(clock.step(), 45);
  EXPECT_EQ(clock.start(3), 45 + 25);
  EXPECT_EQ(clock.end(-1), 0);
  EXPECT_EQ(clock.end(-2), 10 - 45);
}

TEST(Layers, BeginWhereAnotherWeightIsUsed) {
  const Layers layers(three_layers());
  EXPECT_EQ(layers.count(), 5);
  EXPECT_EQ(layers.of(2), 2);
  EXPECT_EQ(layers.of(4), 2);  // uses no weight: still layer 2
  EXPECT_EQ(layers.of(5), 3);
  EXPECT_EQ(layers.of(7), 5);  // op 0 of the next step
  EXPECT_EQ(layers.begin(3), 5);
  EXPECT_EQ(layers.begin(6), 8);
}

TEST(Layers, WithoutWeightsEveryOpIsOne) {
  const Layers layers(literal_program({op({writes(0)}), op({reads(0)})}, {local(4, 0, 1)}));
  EXPECT_EQ(layers.count(), 2);
}

TEST(Tflms, SwapsTheFirstTensorsAndReturnsThemAFixedNumberOfLayersAhead) {
  const Case test(kFast);
  const JudgedPlan judged = test.plan("tflms", 150);
  ASSERT_FALSE(judged.infeasible);
  EXPECT_TRUE(judged.violations.empty());
  EXPECT_EQ(judged.step.step_time, 700);  // nothing waits
  ASSERT_EQ(judged.lowered.swaps.size(), 1u);
  EXPECT_EQ(judged.lowered.swaps[0].block, 3);
  EXPECT_EQ(judged.lowered.swaps[0].in_from, 5);  // its use is in layer 4: one layer ahead
  EXPECT_EQ(judged.findings, (std::vector<Finding>{{"tensors", 1, ""}, {"layers ahead", 1, ""}}));
}

TEST(Tflms, NeverWaitsForMemorySoThatASlowLinkMeansThatItDoesNotFit) {
  const Case test(kSlow);
  const JudgedPlan judged = test.plan("tflms", 150);
  ASSERT_TRUE(judged.infeasible);
  EXPECT_EQ(judged.infeasible->obstacle, Obstacle::too_large);
  EXPECT_GT(judged.infeasible->needed, 150);
  EXPECT_FALSE(test.plan("autoswap-doa", 150).infeasible) << "who waits fits";
}

TEST(Geeps, SwapsTheFirstLayersAndPrefetchesOneLayerAhead) {
  const Case test(kFast);
  const JudgedPlan judged = test.plan("geeps", 150);
  ASSERT_FALSE(judged.infeasible);
  EXPECT_TRUE(judged.violations.empty());
  EXPECT_EQ(judged.findings, (std::vector<Finding>{{"layers swapped", 1, ""}}));
  for (const Swap& swap : judged.lowered.swaps) {
    if (swap.block == 0) continue;  // the layer's weight
    EXPECT_EQ(swap.block, 3);
    EXPECT_EQ(swap.out_after, 1);
    EXPECT_EQ(swap.out_by, 5);   // two layers after the one that used it last
    EXPECT_EQ(swap.in_from, 5);  // the layer before the one that uses it next
    EXPECT_EQ(swap.needed_at, 6);
  }
}

TEST(ExcessArea, TakesTheGapThatRemovesMostAboveTheLimitAndNoMore) {
  const JudgedPlan judged = Case(kFast).plan("excess-area", 150);
  ASSERT_FALSE(judged.infeasible);
  ASSERT_EQ(judged.lowered.swaps.size(), 1u);
  EXPECT_EQ(judged.lowered.swaps[0].block, 3);
  EXPECT_EQ(judged.step.step_time, 700);
}

TEST(ExcessArea, WhatTheLinksCannotCarryInTimeLeavesAllTheSame) {
  const JudgedPlan judged = Case(kSlow).plan("excess-area", 150);
  ASSERT_FALSE(judged.infeasible);
  EXPECT_LE(judged.step.peak_demand, 150);
  EXPECT_GT(judged.step.step_time, 700);
}

}  // namespace
}  // namespace ebb
