#include "planners/swap/swap_selection.h"

#include <gtest/gtest.h>

#include "literal_programs.h"
#include "planners/judge.h"

namespace ebb {
namespace {

Machine link() {
  Machine machine;
  machine.bandwidth_in = machine.bandwidth_out = 1'000'000'000;  // a byte per nanosecond
  return machine;
}

// Three activations of 10, 20 and 40 bytes, all idle across op 3, which brings 30: the peak is 100.
Program three_activations() {
  return literal_program(
      {op({writes(0)}, 100), op({writes(1)}, 100), op({writes(2)}, 100), op({writes(3)}, 100),
       op({reads(2)}, 100), op({reads(1)}, 100), op({reads(0)}, 100)},
      {local(10, 0, 6), local(20, 1, 5), local(40, 2, 4), local(30, 3, 3)});
}

// A weight of 50 bytes is used by ops 0, 3 and 6; between them ops 1 and 2 share 50, ops 4 and 5 share 40.
Program two_peaks() {
  return literal_program({op({reads(0)}), op({writes(1)}), op({reads(1)}), op({reads(0)}), op({writes(2)}),
                          op({reads(2)}), op({updates(0)})},
                         {persistent(50), local(50, 1, 2), local(40, 4, 5)});
}

struct Selecting {
  const Program program;
  const Gaps gaps{program};
  const Machine machine = link();
  std::vector<GapId> select(Bytes limit, Score score, Bytes smallest = 1) const {
    const PlanningProblem problem{program, gaps, machine, limit};
    return SwapSelector(problem, smallest).select(only(score));
  }
  Bytes load_min(Bytes smallest = 1) const {
    const PlanningProblem problem{program, gaps, machine, 0};
    return SwapSelector(problem, smallest).load_min();
  }
};

TEST(SwapSelection, TakesTheHighestUntilTheLimitHoldsAndNoMore) {
  const Selecting test{three_activations()};
  EXPECT_EQ(test.select(100, Score::doa), (std::vector<GapId>{}));
  EXPECT_EQ(test.select(99, Score::doa), (std::vector{test.gaps.find(0, 0)}));  // idle longest
  EXPECT_EQ(test.select(89, Score::doa), (std::vector{test.gaps.find(0, 0), test.gaps.find(1, 1)}));
  EXPECT_EQ(test.select(89, Score::aoa), (std::vector{test.gaps.find(1, 1)}));  // (300 - 40) x 20
}

TEST(SwapSelection, WeightsMayTurnAScoreAround) {
  const Selecting test{three_activations()};
  const PlanningProblem problem{test.program, test.gaps, test.machine, 99};
  EXPECT_EQ(SwapSelector(problem, 1).select({-1, 0, 0, 0}), (std::vector{test.gaps.find(2, 2)}));
}

TEST(SwapSelection, LoadMinIsWhatSwappingOnceAcrossThePeakReaches) {
  EXPECT_EQ(Selecting{three_activations()}.load_min(), 40);     // op 2 and the block it writes
  EXPECT_EQ(Selecting{two_peaks()}.load_min(), 90);             // the second peak
  EXPECT_EQ(Selecting{three_activations()}.load_min(30), 70);   // op 2 with the two that are too small to go
  EXPECT_EQ(Selecting{three_activations()}.load_min(50), 100);  // no block is a candidate
}

TEST(SwapSelection, BelowLoadMinABlockLeavesMoreThanOnce) {
  const Selecting test{two_peaks()};
  EXPECT_EQ(test.select(90, Score::doa), (std::vector{test.gaps.find(0, 0)}));
  EXPECT_EQ(test.select(60, Score::doa), (std::vector{test.gaps.find(0, 0), test.gaps.find(0, 3)}));
}

TEST(SwapSelection, SmallBlocksGoWhereNoLargerOnesAreLeft) {
  const Selecting test{three_activations()};
  EXPECT_EQ(test.select(60, Score::doa, 20), (std::vector{test.gaps.find(1, 1), test.gaps.find(2, 2)}));
  EXPECT_EQ(test.select(69, Score::doa, 40), (std::vector{test.gaps.find(0, 0), test.gaps.find(2, 2)}));
}

TEST(SwapSelection, ACopyStartsWhenTheAccessBeforeTheGapHasEnded) {
  // Written by op 0, read by op 1: the copy could start before the read, but [SP] waits for it.
  const Program program =
      literal_program({op({writes(0)}), op({reads(0)}), op({}), op({}), op({reads(0)})}, {local(10, 0, 4)});
  const Gaps gaps(program);
  const Machine machine = link();
  const PlanningProblem problem{program, gaps, machine, 1000};
  const Plan plan = schedule_swaps(problem, {gaps.find(0, 1)});
  EXPECT_EQ(plan[gaps.find(0, 1)].out_after, 1);
  const JudgedPlan judged = judge(problem, plan);
  ASSERT_FALSE(judged.infeasible);
  EXPECT_EQ(judged.step.step_time, 50);
}

}  // namespace
}  // namespace ebb
