#include "plan/lower.h"

#include <gtest/gtest.h>

#include "literal_programs.h"
#include "plan/validate.h"

namespace ebb {
namespace {

struct Problem {
  Program program;
  Gaps gaps{program};
  Plan plan = Plan::keep_all(gaps);
  LoweredPlan lowered;

  Problem(std::vector<Op> ops, std::vector<Block> blocks)
      : program(literal_program(std::move(ops), std::move(blocks))) {}
  Decision& decide(BlockId block, OpIndex from) { return plan[gaps.find(block, from)]; }
  std::optional<Infeasible> lower(Bytes limit) {
    auto infeasible = Lowerer(program, gaps).lower(plan, limit, lowered);
    if (!infeasible) {
      for (const Violation& v : validate(program, gaps, lowered)) ADD_FAILURE() << v.sentence;
    }
    return infeasible;
  }
  Obstacle obstacle(Bytes limit) {
    const auto infeasible = lower(limit);
    return infeasible ? infeasible->obstacle : Obstacle::none;
  }
};

// a: written by op 0, read by op 4; b of 20 bytes lives in op 2 only.
Problem idle_over_a_peak() {
  Problem p({op({writes(0)}), op({}), op({writes(1)}), op({}), op({reads(0)})},
            {local(10, 0, 4), local(20, 2, 2)});
  p.decide(0, 0) = swap_it();
  return p;
}

TEST(Lower, NeedCountsWhatThePlanKeepsPresent) {
  Problem p = idle_over_a_peak();
  ASSERT_FALSE(p.lower(20));
  // Away in ops 1 and 2, back from position 3, the first from which everything fits.
  EXPECT_EQ(p.lowered.need, (std::vector<Bytes>{10, 0, 20, 10, 10}));
  EXPECT_EQ(p.lowered.swaps[0].in_from, 3);
  EXPECT_EQ(p.lowered.swaps[0].needed_at, 4);
}

TEST(Lower, ACopyInMayStartAtOnceIfThereIsRoom) {
  Problem p = idle_over_a_peak();
  ASSERT_FALSE(p.lower(30));
  EXPECT_EQ(p.lowered.swaps[0].in_from, 1);
}

TEST(Lower, AReplayCallsASwappedInputBack) {
  // b = f(a); b is recomputed for op 4; a is swapped until op 6 but returns for the replay, for good.
  Problem p(
      {op({writes(0)}), op({reads(0), writes(1)}), op({}), op({}), op({reads(1)}), op({}), op({reads(0)})},
      {local(10, 0, 6), local(10, 1, 4)});
  p.decide(0, 1) = swap_it();
  p.decide(1, 1) = recompute_it();
  ASSERT_FALSE(p.lower(100));
  EXPECT_EQ(p.lowered.swaps[0].needed_at, 4);
  EXPECT_EQ(p.lowered.replays, (std::vector<ReplayStep>{{4, 1, 10, 0}}));
}

TEST(Lower, ATrailingSwapDoesNotComeBackForAReplay) {
  // b = f(a); a is swapped away for good after op 1, so the replay makes it again.
  Problem p({op({writes(0)}), op({reads(0), writes(1)}), op({}), op({}), op({reads(1)}), op({})},
            {local(10, 0, 5), local(10, 1, 4)});
  p.decide(0, 1) = swap_it();
  p.decide(1, 1) = recompute_it();
  ASSERT_FALSE(p.lower(100));
  EXPECT_EQ(p.lowered.replays, (std::vector<ReplayStep>{{4, 0, 10, 0}, {4, 1, 10, 10}}));
}

TEST(Lower, AChosenStayNeverBeginsWhereItWouldMeanNotDropped) {
  // Seed 19567 of the random cases: a is dropped after op 3 and made again at once, at position 4, for b.
  Problem p(
      {op({writes(0)}), op({reads(0), writes(1)}), op({}), op({reads(0)}), op({reads(1)}), op({reads(0)})},
      {local(10, 0, 5), local(10, 1, 4)});
  p.decide(1, 1) = recompute_it();
  p.decide(0, 3) = {.action = Action::recompute, .stays = {}};
  ASSERT_FALSE(p.lower(100));
  for (const OpRange& stay : *p.lowered.plan[p.gaps.find(0, 3)].stays) EXPECT_GT(stay.begin, 4);
}

TEST(Lower, RefusesWhatDoesNotFit) {
  Problem p = idle_over_a_peak();
  const auto infeasible = p.lower(19);
  ASSERT_TRUE(infeasible);
  EXPECT_EQ(infeasible->obstacle, Obstacle::too_large);
  EXPECT_EQ(infeasible->op, 2);
  EXPECT_EQ(infeasible->needed, 20);
  EXPECT_EQ(infeasible->available, 19);
}

TEST(Lower, GivesUpWhatReplaysTooMuch) {
  // Two blocks, each made again for its reader.
  Problem p({op({reads(0), writes(1)}), op({reads(0), writes(2)}), op({}), op({reads(1)}), op({reads(2)})},
            {persistent(10), local(10, 0, 3), local(10, 1, 4)});
  p.decide(1, 0) = p.decide(2, 1) = recompute_it();
  Lowerer lowerer(p.program, p.gaps);
  lowerer.give_up_beyond(1);
  const auto given_up = lowerer.lower(p.plan, 100, p.lowered);
  ASSERT_TRUE(given_up);
  EXPECT_EQ(given_up->obstacle, Obstacle::too_large);
  lowerer.give_up_beyond(2);
  EXPECT_FALSE(lowerer.lower(p.plan, 100, p.lowered));
  EXPECT_EQ(p.lowered.replays.size(), 2u);
  lowerer.give_up_beyond(0);
  EXPECT_FALSE(lowerer.lower(p.plan, 100, p.lowered));
}

TEST(Lower, RefusesToRecomputeWhatCannotBeMadeAgain) {
  std::vector<Op> ops = {op({writes(0)}), op({}), op({reads(0)})};
  ops[0].replayable = false;
  Problem p(ops, {local(10, 0, 2)});
  p.decide(0, 0) = recompute_it();
  EXPECT_EQ(p.obstacle(100), Obstacle::not_remakable);
}

TEST(Lower, RefusesToRecomputeFromAnOverwrittenInput) {
  // b = f(w), then w is updated: the old w is gone.
  Problem p({op({reads(0), writes(1)}), op({updates(0)}), op({reads(1)})}, {persistent(4), local(10, 0, 2)});
  p.decide(1, 0) = recompute_it();
  EXPECT_EQ(p.obstacle(100), Obstacle::not_remakable);
}

TEST(Lower, RefusesToRecomputeAcrossTheBoundary) {
  Problem p({op({}), op({updates(0)}), op({})}, {persistent(4)});
  p.decide(0, 1) = recompute_it();
  EXPECT_EQ(p.obstacle(100), Obstacle::not_remakable);
}

TEST(Lower, RefusesACopyOutBeforeTheLastWrite) {
  Problem p({op({writes(0)}), op({updates(0)}), op({}), op({reads(0)})}, {local(10, 0, 3)});
  p.decide(0, 1) = swap_it();
  p.decide(0, 1).out_after = 0;
  EXPECT_EQ(p.obstacle(100), Obstacle::bad_timing);
}

TEST(Lower, RefusesACopyOutWhereTheBlockIsAbsent) {
  // Dropped after op 0 and made again for op 3; a copy-out after op 2 would start while it is away.
  Problem p({op({writes(0)}), op({}), op({}), op({reads(0)}), op({}), op({reads(0)})}, {local(10, 0, 5)});
  p.decide(0, 0) = recompute_it();
  p.decide(0, 3) = swap_it();
  p.decide(0, 3).out_after = 2;
  EXPECT_EQ(p.obstacle(100), Obstacle::bad_timing);
}

TEST(Lower, OrdersTheLinksByRankThenGap) {
  // Both return for op 3; b's rank 3 equals a's default, so the gap decides.
  Problem p({op({writes(0), writes(1)}), op({}), op({}), op({reads(0)}), op({reads(1)})},
            {local(10, 0, 3), local(10, 0, 4)});
  p.decide(0, 0) = swap_it();
  p.decide(1, 0) = swap_it();
  p.decide(1, 0).in_order = 3;
  ASSERT_FALSE(p.lower(100));
  EXPECT_EQ(p.lowered.ins, (std::vector<std::int32_t>{0, 1}));
  p.decide(0, 0).out_order = 7;
  p.decide(0, 0).in_order = 7;
  ASSERT_FALSE(p.lower(100));
  EXPECT_EQ(p.lowered.outs, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(p.lowered.ins, (std::vector<std::int32_t>{1, 0}));
}

TEST(Lower, AHostCopyCountsUntilTheLastReturnThatNeedsIt) {
  // a is copied out once and leaves again clean; b's copy is over before: 10 + 6 beside each other, then 10.
  Problem p({op({writes(0), writes(1)}), op({}), op({reads(0), reads(1)}), op({}), op({reads(0)})},
            {local(10, 0, 4), local(6, 0, 2)});
  p.decide(0, 0) = swap_it();
  p.decide(0, 2) = swap_it();
  p.decide(1, 0) = swap_it();
  ASSERT_FALSE(p.lower(100));
  EXPECT_EQ(p.lowered.host_peak, 16);
}

}  // namespace
}  // namespace ebb
