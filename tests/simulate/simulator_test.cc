// Each rule of docs/notes/simulation.md on a program small enough to compute by hand. The link carries a byte
// per nanosecond each way and ops take 10 ns unless said otherwise. Both simulators run every case.
#include "simulate/simulator.h"

#include <gtest/gtest.h>

#include "literal_programs.h"
#include "plan/lower.h"
#include "plan/validate.h"
#include "simulate/reference_simulator.h"

namespace ebb {
namespace {

constexpr Bytes kRoomy = 1000;

Machine byte_per_nanosecond() {
  Machine machine;
  machine.bandwidth_out = machine.bandwidth_in = 1'000'000'000;
  return machine;
}

struct Outcome {
  StepResult step;
  Timeline timeline;
  Schedule schedule;
  LoweredPlan lowered;

  Span span(Lane lane, GapId gap) const {
    for (const Span& s : timeline.spans)
      if (s.lane == lane && s.gap == gap) return s;
    return {.start = -1, .end = -1};
  }
  std::pair<Nanoseconds, Nanoseconds> out(GapId gap) const {
    return {span(Lane::out, gap).start, span(Lane::out, gap).end};
  }
  std::pair<Nanoseconds, Nanoseconds> in(GapId gap) const {
    return {span(Lane::in, gap).start, span(Lane::in, gap).end};
  }
  std::pair<Nanoseconds, Nanoseconds> run(OpIndex op) const {
    for (const Span& s : timeline.spans)
      if (s.lane == Lane::compute && !s.replay && s.op == op) return {s.start, s.end};
    return {-1, -1};
  }
  std::vector<GapId> commands(CommandKind kind) const {
    std::vector<GapId> gaps;
    for (const Command& c : schedule.commands)
      if (c.kind == kind) gaps.push_back(c.gap);
    return gaps;
  }
};

using Times = std::pair<Nanoseconds, Nanoseconds>;

struct Problem {
  Program program;
  Gaps gaps{program};
  Plan plan = Plan::keep_all(gaps);
  Machine machine = byte_per_nanosecond();
  Bytes limit = kRoomy;

  Problem(std::vector<Op> ops, std::vector<Block> blocks)
      : program(literal_program(std::move(ops), std::move(blocks))) {}

  GapId after(BlockId block, OpIndex from) const { return gaps.find(block, from); }
  Decision& decide(BlockId block, OpIndex from) { return plan[after(block, from)]; }

  Outcome run() {
    Outcome outcome;
    const auto refused = Lowerer(program, gaps).lower(plan, limit, outcome.lowered);
    EXPECT_FALSE(refused) << refused->sentence(program);
    outcome.step =
        Simulator(program, gaps, machine).run(outcome.lowered, limit, outcome.timeline, outcome.schedule);
    const ReferenceResult reference = reference_simulate(program, gaps, machine, outcome.lowered, limit);
    EXPECT_EQ(outcome.step, reference.step);
    if (outcome.step.infeasible) return outcome;
    EXPECT_EQ(outcome.timeline, reference.timeline);
    EXPECT_EQ(outcome.schedule, reference.schedule);
    for (const Violation& v : validate(program, gaps, outcome.lowered, outcome.schedule, limit))
      ADD_FAILURE() << v.sentence;
    return outcome;
  }
};

// a: |W....R|, written by op 0, read by op 3, with two ops between.
Problem one_idle_block(Nanoseconds between) {
  Problem p({op({writes(0)}), op({}, between), op({}, between), op({reads(0)})}, {local(10, 0, 3)});
  p.decide(0, 0) = swap_it();
  return p;
}

TEST(Simulator, ASwapThatFitsInItsGapCostsNothing) {
  Problem p = one_idle_block(50);
  const Outcome o = p.run();
  EXPECT_EQ(o.out(0), (Times{10, 20}));
  EXPECT_EQ(o.in(0), (Times{20, 30}));
  EXPECT_EQ(o.step.step_time, 120);  // 10 + 50 + 50 + 10
  EXPECT_EQ(o.step.plain_time, 120);
  EXPECT_EQ(o.step.bytes_out, 10);
  EXPECT_EQ(o.step.bytes_in, 10);
}

TEST(Simulator, AnOpWaitsForItsCopyIn) {
  Problem p = one_idle_block(5);
  const Outcome o = p.run();
  // op 2 ends at 20, when the copy-out has just ended; the copy-in takes until 30.
  EXPECT_EQ(o.in(0), (Times{20, 30}));
  EXPECT_EQ(o.timeline.stalls, (std::vector<Stall>{{StallCause::copy_in, 3, 20, 30}}));
  EXPECT_EQ(o.step.step_time, 40);
}

TEST(Simulator, AnOpWaitsForRoom) {
  // Op 1 makes b of 10 bytes; a is leaving until 20 and both do not fit.
  Problem p({op({writes(0)}), op({writes(1)}, 5), op({reads(0)})}, {local(10, 0, 2), local(10, 1, 1)});
  p.decide(0, 0) = swap_it();
  p.limit = 15;
  const Outcome o = p.run();
  EXPECT_EQ(o.run(1), (Times{20, 25}));
  EXPECT_EQ(o.in(p.after(0, 0)), (Times{25, 35}));  // no room beside b, so from position 2
  EXPECT_EQ(o.timeline.stalls,
            (std::vector<Stall>{{StallCause::room, 1, 10, 20}, {StallCause::copy_in, 2, 25, 35}}));
  EXPECT_EQ(o.step.step_time, 45);
  EXPECT_EQ(o.step.peak_demand, 10);
}

TEST(Simulator, AWaitingOpComesBeforeACopyInForFreedMemory) {
  // a (10) leaves by 20, c (17) by 37. At 20 a could return beside c (27 of 30), but op 1 waits for 15 bytes.
  Problem p({op({writes(0), writes(1)}), op({writes(2)}, 5), op({}, 5), op({reads(0), reads(1)})},
            {local(10, 0, 3), local(17, 0, 3), local(15, 1, 1)});
  p.decide(0, 0) = swap_it();
  p.decide(0, 0).in_from = 1;
  p.decide(1, 0) = swap_it();
  p.limit = 30;
  const Outcome o = p.run();
  EXPECT_EQ(o.out(p.after(0, 0)), (Times{10, 20}));
  EXPECT_EQ(o.out(p.after(1, 0)), (Times{20, 37}));
  EXPECT_EQ(o.run(1), (Times{37, 42}));
  EXPECT_EQ(o.in(p.after(0, 0)), (Times{37, 47}));
  EXPECT_EQ(o.in(p.after(1, 0)), (Times{47, 64}));
  EXPECT_EQ(o.step.step_time, 74);
}

// a and b of 10 bytes, both idle over one long op.
Problem two_idle_blocks() {
  Problem p({op({writes(0), writes(1)}), op({}, 100), op({reads(0), reads(1)})},
            {local(10, 0, 2), local(10, 0, 2)});
  p.decide(0, 0) = swap_it();
  p.decide(1, 0) = swap_it();
  return p;
}

TEST(Simulator, BothDirectionsRunBesideEachOther) {
  Problem p = two_idle_blocks();
  const Outcome o = p.run();
  EXPECT_EQ(o.out(p.after(1, 0)), (Times{20, 30}));
  EXPECT_EQ(o.in(p.after(0, 0)), (Times{20, 30}));
}

TEST(Simulator, AnExclusiveLinkCarriesOneCopyAtATimeOutsFirst) {
  Problem p = two_idle_blocks();
  p.machine.exclusive = true;
  const Outcome o = p.run();
  EXPECT_EQ(o.out(p.after(0, 0)), (Times{10, 20}));
  EXPECT_EQ(o.out(p.after(1, 0)), (Times{20, 30}));
  EXPECT_EQ(o.in(p.after(0, 0)), (Times{30, 40}));
  EXPECT_EQ(o.in(p.after(1, 0)), (Times{40, 50}));
}

TEST(Simulator, ACapOnBothDirectionsSlowsBoth) {
  Problem p = two_idle_blocks();
  p.machine.bandwidth_both =
      1'000'000'000;  // half of the sum: each copy takes twice as long beside the other
  const Outcome o = p.run();
  EXPECT_EQ(o.out(p.after(0, 0)), (Times{10, 20}));
  EXPECT_EQ(o.out(p.after(1, 0)), (Times{20, 40}));
  EXPECT_EQ(o.in(p.after(0, 0)), (Times{20, 40}));
  EXPECT_EQ(o.in(p.after(1, 0)), (Times{40, 50}));
}

TEST(Simulator, LatencyOccupiesTheLink) {
  Problem p = two_idle_blocks();
  p.machine.latency_out = 3;
  p.machine.latency_in = 7;
  const Outcome o = p.run();
  EXPECT_EQ(o.out(p.after(0, 0)), (Times{10, 23}));
  EXPECT_EQ(o.out(p.after(1, 0)), (Times{23, 36}));
  EXPECT_EQ(o.in(p.after(0, 0)), (Times{23, 40}));
  EXPECT_EQ(o.in(p.after(1, 0)), (Times{40, 57}));
}

TEST(Simulator, StretchesRoundTheEndUpAndTheWorkDoneDown) {
  Problem p = one_idle_block(100);
  p.machine.compute_stretch = {1'000'000, 1'333'333, 1'000'000, 1'000'000};
  const Outcome o = p.run();
  // Op 1 runs from 10; while the copy-out runs, to 20, it does ⌊10 / 1.333333⌋ = 7 of its 100; then 93 more.
  EXPECT_EQ(o.run(1), (Times{10, 113}));
}

TEST(Simulator, ACopyThatFollowsAnotherAtOnceChangesNothing) {
  Problem p = one_idle_block(100);
  p.machine.compute_stretch = {1'000'000, 1'333'333, 1'333'333, 1'000'000};
  const Outcome o = p.run();
  // Out to 20, in to 30, the same stretch throughout: ⌊20 / 1.333333⌋ = 15 done at 30, not 7 + 7.
  EXPECT_EQ(o.run(1), (Times{10, 115}));
}

TEST(Simulator, ACleanBlockLeavesWithoutACopy) {
  Problem p({op({reads(0)}), op({}, 50), op({reads(0)})}, {persistent(10)});
  p.decide(0, 0) = swap_it();
  const Outcome o = p.run();
  EXPECT_TRUE(o.lowered.swaps[0].clean);
  EXPECT_EQ(o.commands(CommandKind::drop), (std::vector<GapId>{p.after(0, 0)}));
  EXPECT_EQ(o.in(p.after(0, 0)), (Times{10, 20}));
  EXPECT_EQ(o.step.bytes_out, 0);
  EXPECT_EQ(o.step.step_time, 70);
}

TEST(Simulator, AWriteMakesTheBlockDirtyAgain) {
  Problem p({op({updates(0)}), op({}), op({reads(0)}), op({}), op({reads(0)})}, {persistent(10)});
  for (OpIndex from : {0, 2}) p.decide(0, from) = swap_it();
  const Outcome o = p.run();
  EXPECT_FALSE(o.lowered.swaps[0].clean);
  EXPECT_TRUE(o.lowered.swaps[1].clean);
}

TEST(Simulator, AWrappingSwapReturnsForTheNextIteration) {
  Problem p({op({}), op({updates(0)}), op({}, 50), op({}, 50)}, {persistent(10)});
  p.decide(0, 1) = swap_it();
  const Outcome o = p.run();
  // First iteration: on the host at 0, in [0, 10). From then on the copy-in follows the copy-out at once, an
  // iteration ahead, so the state repeats from T_1 on.
  EXPECT_EQ(o.step.iterations, 2);
  EXPECT_TRUE(o.step.periodic);
  EXPECT_EQ(o.out(p.after(0, 1)), (Times{20, 30}));
  EXPECT_EQ(o.in(p.after(0, 1)), (Times{30, 40}));
  EXPECT_EQ(o.step.step_time, 120);
}

TEST(Simulator, ATrailingSwapIsSkippedIfTheBlockDiesFirst) {
  // b (50) holds the link from 10 to 60; a dies when op 1 ends, at 20.
  Problem p({op({writes(0), writes(1)}), op({}), op({}), op({reads(0)})}, {local(50, 0, 3), local(10, 0, 1)});
  p.decide(0, 0) = swap_it();
  p.decide(1, 0) = swap_it();
  const Outcome o = p.run();
  EXPECT_EQ(o.step.bytes_out, 50);
  EXPECT_EQ(o.commands(CommandKind::start_out), (std::vector<GapId>{p.after(0, 0)}));
  EXPECT_EQ(o.timeline.load[1], (LoadPoint{20, 50}));
}

TEST(Simulator, AnOpWaitsWhereASwapIsSynchronous) {
  Problem p = one_idle_block(50);
  p.decide(0, 0).out_by = 1;
  const Outcome o = p.run();
  EXPECT_EQ(o.timeline.stalls, (std::vector<Stall>{{StallCause::sync, 1, 10, 20}}));
  EXPECT_EQ(o.step.step_time, 130);
}

TEST(Simulator, AnOpWaitsForItsIssue) {
  Problem p({op({writes(0)}), op({reads(0)})}, {local(10, 0, 1)});
  std::vector<Op> ops = p.program.ops();
  ops[1].issue = 25;
  Problem late(ops, {local(10, 0, 1)});
  const Outcome o = late.run();
  EXPECT_EQ(o.timeline.stalls, (std::vector<Stall>{{StallCause::issue, 1, 10, 25}}));
  EXPECT_EQ(o.step.step_time, 35);
  EXPECT_EQ(o.step.plain_time, 35);
}

TEST(Simulator, AReplayWorksInPlaceOnItsTemporary) {
  // Op 0 makes a, op 1 changes it in place, op 3 reads it: both are run again, one allocation.
  Problem p({op({writes(0)}), op({updates(0)}), op({}), op({reads(0)})}, {local(10, 0, 3)});
  p.decide(0, 1) = recompute_it();
  const Outcome o = p.run();
  EXPECT_EQ(o.lowered.replays, (std::vector<ReplayStep>{{3, 0, 10, 0}, {3, 1, 0, 0}}));
  EXPECT_EQ(o.step.recompute_time, 20);
  EXPECT_EQ(o.step.step_time, 60);
}

TEST(Simulator, WhereTheDeviceWaitsEveryItemTakesTheHostsTime) {
  Problem p({op({writes(0)}), op({updates(0)}), op({}), op({reads(0)})}, {local(10, 0, 3)});
  p.decide(0, 1) = recompute_it();
  p.machine.op_issue = 25;
  p.machine.replay_issue = 15;
  const Outcome o = p.run();
  EXPECT_EQ(o.step.recompute_time, 20);
  EXPECT_EQ(o.step.step_time, 130) << "four ops and two of them again";
  EXPECT_EQ(o.step.plain_time, 100);
  EXPECT_EQ(o.step.stalls[static_cast<std::size_t>(StallCause::issue)], 70);
}

TEST(Simulator, WhatFollowingAPlanCostsTheHostIsNoneOfThePlainStep) {
  Problem p({op({writes(0)}), op({updates(0)}), op({}), op({reads(0)})}, {local(10, 0, 3)});
  p.decide(0, 1) = recompute_it();
  p.machine.op_issue = 25;
  p.machine.follow_issue = 4;
  p.machine.replay_issue = 15;
  EXPECT_EQ(p.run().step.step_time, 130 + 4 * 4);
  EXPECT_EQ(p.run().step.plain_time, 100);
}

TEST(Simulator, AHostThatIsAheadKeepsNobodyWaiting) {
  // Op 0 is long: meanwhile the host issues what follows, as far as it can be ahead.
  Problem p({op({}, 100), op({}, 10), op({}, 10), op({}, 10)}, {});
  p.machine.op_issue = 20;
  p.machine.host_lead = 1'000;
  EXPECT_EQ(p.run().step.step_time, 130);
  EXPECT_EQ(p.run().step.plain_time, 130);
  p.machine.host_lead = 0;  // each is issued when the one before it starts
  EXPECT_EQ(p.run().step.step_time, 100 + 20 + 20 + 20);
  EXPECT_EQ(p.run().step.plain_time, 160);
}

TEST(Simulator, WhatTheHostTakesToStartACopyMakesTheNextItemLater) {
  // Out at 10, while op 1 runs; in when op 2 may begin.
  Problem p({op({writes(0)}), op({}), op({}), op({reads(0)})}, {local(10, 0, 3)});
  p.decide(0, 0) = swap_it();
  p.machine.op_issue = 10;
  const Nanoseconds before = p.run().step.step_time;
  p.machine.copy_issue = 3;
  EXPECT_EQ(p.run().step.step_time, before + 6);
}

TEST(Simulator, AReplayFreesWhatNobodyNeedsAnyMore) {
  // a → b → c; b dies at op 2; c is recomputed at 4 from a, through b, with a workspace of 3 in op 1.
  Problem p({op({writes(0)}), op({reads(0), writes(1)}), op({reads(1), writes(2)}), op({}),
             op({reads(0), reads(2)})},
            {local(10, 0, 4), local(20, 1, 2), local(5, 2, 4)});
  p.decide(2, 2) = recompute_it();
  const Outcome o = p.run();
  EXPECT_EQ(o.lowered.replays, (std::vector<ReplayStep>{{4, 1, 20, 0}, {4, 2, 5, 20}}));
  EXPECT_EQ(o.step.peak_load, 35);
}

TEST(Simulator, AStayBringsTheBlockBackForAWhile) {
  Problem p({op({writes(0)}), op({}), op({}), op({}), op({reads(0)})}, {local(10, 0, 4)});
  p.decide(0, 0) = recompute_it({{2, 3}});
  const Outcome o = p.run();
  EXPECT_EQ(o.lowered.replays, (std::vector<ReplayStep>{{2, 0, 10, 0}, {4, 0, 10, 0}}));
  EXPECT_EQ(o.commands(CommandKind::drop).size(), 2u);
  // Load: op 0 [0,10), gone in op 1 [10,20), replay and op 2 [20,40), gone in op 3 [40,50), back from 50.
  EXPECT_EQ(o.timeline.load, (std::vector<LoadPoint>{{0, 10}, {10, 0}, {20, 10}, {40, 0}, {50, 10}}));
}

TEST(Simulator, ADeadBlockMayBeKeptForALaterReplay) {
  // b is made of a, which dies at op 1 but is held by a stay until the replay at position 4.
  Problem p({op({writes(0)}), op({reads(0), writes(1)}), op({}), op({}), op({reads(1)})},
            {local(7, 0, 1), local(10, 1, 4)});
  p.decide(1, 1) = recompute_it();
  p.decide(0, 1) = recompute_it({{2, 5}});
  const Outcome o = p.run();
  EXPECT_EQ(o.lowered.replays, (std::vector<ReplayStep>{{4, 1, 10, 0}}));
  EXPECT_EQ(o.timeline.load[2], (LoadPoint{20, 7}));
  EXPECT_EQ(o.commands(CommandKind::drop), (std::vector<GapId>{p.after(1, 1), p.after(0, 1)}));
}

TEST(Simulator, TheHostMayBeTooSmall) {
  Problem p = one_idle_block(50);
  p.machine.host_bytes = 9;
  const Outcome o = p.run();
  ASSERT_TRUE(o.step.infeasible);
  EXPECT_EQ(o.step.infeasible->obstacle, Obstacle::host_full);
  EXPECT_EQ(o.step.infeasible->needed, 10);
}

TEST(Simulator, AnOrderOfCopiesThatContradictsItselfIsStuck) {
  // b is first on the link but may only start at position 3; op 2 waits for a behind it.
  Problem p({op({writes(0), writes(1)}), op({}), op({reads(0)}), op({}), op({reads(1)})},
            {local(10, 0, 2), local(10, 0, 4)});
  p.decide(0, 0) = swap_it();
  p.decide(0, 0).in_order = 5;
  p.decide(1, 0) = swap_it();
  p.decide(1, 0).in_from = 3;
  const Outcome o = p.run();
  ASSERT_TRUE(o.step.infeasible);
  EXPECT_EQ(o.step.infeasible->obstacle, Obstacle::stuck);
  EXPECT_EQ(o.step.infeasible->op, 2);
}

TEST(Simulator, APlanJudgedByASmallerLimitNamesTheOpThatDoesNotFit) {
  Problem p = one_idle_block(50);
  const Outcome o = p.run();
  const StepResult step = Simulator(p.program, p.gaps, p.machine).run(o.lowered, 9);
  ASSERT_TRUE(step.infeasible);
  EXPECT_EQ(step.infeasible->obstacle, Obstacle::too_large);
  EXPECT_EQ(step.infeasible->op, 0);
  EXPECT_EQ(step.infeasible->needed, 10);
  EXPECT_EQ(step.infeasible->available, 9);
}

}  // namespace
}  // namespace ebb
