#include <gtest/gtest.h>

#include "literal_programs.h"
#include "planners/chain/chain_planners.h"
#include "planners/chain/segment_view.h"
#include "planners/judge.h"

namespace ebb {
namespace {

// Seven ops that each make 8 bytes from the 8 before, and their backward: each reads two of them.
Program seven_layers(const std::vector<Nanoseconds>& times) {
  std::vector<Op> ops;
  std::vector<Block> blocks;
  const auto n = static_cast<BlockId>(times.size());
  for (BlockId b = 0; b < n; ++b) {
    const Nanoseconds time = times[static_cast<std::size_t>(b)];
    ops.push_back(b == 0 ? op({writes(b)}, time) : op({reads(b - 1), writes(b)}, time));
    ops.back().phase = Phase::forward;
    ops.back().replayable = b > 0;  // the batch
    blocks.push_back(local(8, b, 2 * n - 1 - b));
  }
  for (BlockId b = n; b-- > 0;) {
    ops.push_back(b == 0 ? op({reads(b)}, 20) : op({reads(b - 1), reads(b)}, 20));
    ops.back().phase = Phase::backward;
    blocks[static_cast<std::size_t>(b)].death = static_cast<OpIndex>(ops.size()) - 1;
  }
  for (BlockId b = 0; b + 1 < n; ++b) blocks[static_cast<std::size_t>(b)].death = 2 * n - 1 - b;
  return literal_program(ops, blocks);
}

const std::vector<Nanoseconds> kTimes = {5, 10, 40, 10, 30, 10, 10};

Machine with_link(Bytes bytes_per_second) {
  return {.bandwidth_out = bytes_per_second, .bandwidth_in = bytes_per_second};
}

// Every choice of keep and recompute over all gaps, stays by default.
Nanoseconds by_trying_all(const PlanningProblem& problem) {
  Nanoseconds best = 0;
  for (std::uint32_t bits = 0; bits < 1u << static_cast<unsigned>(problem.gaps.count()); ++bits) {
    Plan plan = Plan::keep_all(problem.gaps);
    for (GapId g = 0; g < problem.gaps.count(); ++g)
      if ((bits >> static_cast<unsigned>(g) & 1u) != 0) plan[g].action = Action::recompute;
    const JudgedPlan judged = judge(problem, plan);
    if (!judged.infeasible && (best == 0 || judged.step.step_time < best)) best = judged.step.step_time;
  }
  return best;
}

TEST(ChainDp, IsAsGoodAsTryingEverythingOnAChain) {
  const Program program = seven_layers(kTimes);
  const Gaps gaps(program);
  const Machine machine = with_link(1'000'000'000);
  for (Bytes limit = 24; limit < program.peak_demand(); limit += 8) {
    SCOPED_TRACE(testing::Message() << "limit " << limit);
    const PlanningProblem problem{program, gaps, machine, limit};
    const JudgedPlan judged = plan_and_judge(find_planner("chain-dp"), problem, {});
    const Nanoseconds best = by_trying_all(problem);
    ASSERT_EQ(judged.infeasible.has_value(), best == 0);
    if (best == 0) continue;
    EXPECT_LE(judged.step.step_time, best);
  }
}

TEST(ChainDp, RunsTheCheapestLayersAgain) {
  const Program program = seven_layers(kTimes);
  const Gaps gaps(program);
  const PlanningProblem problem{program, gaps, with_link(1'000'000'000), program.peak_demand() - 8};
  const JudgedPlan judged = plan_and_judge(find_planner("chain-dp"), problem, {});
  ASSERT_FALSE(judged.infeasible);
  EXPECT_EQ(judged.step.recompute_time, 10);
}

TEST(ChainDpOffload, MovesOverAFastLinkAndRunsAgainBesideASlowOne) {
  const Program program = seven_layers(kTimes);
  const Gaps gaps(program);
  for (const Bytes link : {Bytes{8'000'000'000}, Bytes{1'000'000}}) {
    const PlanningProblem problem{program, gaps, with_link(link), program.peak_demand() - 16};
    const JudgedPlan both = plan_and_judge(find_planner("chain-dp-offload"), problem, {});
    const JudgedPlan rerun = plan_and_judge(find_planner("chain-dp"), problem, {});
    ASSERT_FALSE(both.infeasible);
    if (link > 1'000'000) {
      EXPECT_EQ(both.step.step_time, both.step.plain_time);
    } else {
      EXPECT_EQ(both.step.step_time, rerun.step.step_time);
      EXPECT_EQ(both.step.bytes_out, 0);
    }
  }
}

class SevenLayersInSegments : public ::testing::Test {
 protected:
  const Program program = seven_layers(kTimes);
  const Gaps gaps{program};
  const Machine machine = with_link(1'000'000'000);
  const PlanningProblem problem{program, gaps, machine, program.peak_demand()};
  const ChainView view = view_as_chain(program, gaps, machine);
  const Mirror mirror{program, gaps};
};

TEST_F(SevenLayersInSegments, KnowsWhatAStageMakesAndWhatCrosses) {
  const std::vector<OpIndex> starts = {0, 2, 4};
  const SegmentView segments = view_as_segments(problem, view, mirror, starts, {}, 1);
  ASSERT_EQ(segments.chain.size(), 3u);
  const SegmentStage& middle = segments.chain.stages[1];  // ops 2 and 3 make blocks 2 and 3
  EXPECT_EQ(segments.parts[1].forward, (OpRange{2, 4}));
  EXPECT_EQ(segments.parts[1].gaps.size(), 2u);
  EXPECT_EQ(middle.rerun, 50);
  EXPECT_EQ(middle.rerun_as_last, 40);  // block 3 is what crosses
  EXPECT_EQ(middle.options.front(), (StoreOption{.held = 16}));
  EXPECT_EQ(middle.store_again, 16);
  EXPECT_EQ(segments.chain.crossing(1, 2).held, 8);
  EXPECT_EQ(segments.chain.crossing(0, 2).held, 8);
  // Block 2 can be made again from what crosses; block 3 crosses and stays.
  const auto dropped = std::find_if(middle.options.begin(), middle.options.end(),
                                    [](const StoreOption& o) { return o.rerun > 0 && o.copies == 0; });
  ASSERT_NE(dropped, middle.options.end());
  EXPECT_EQ(*dropped, (StoreOption{.held = 8, .rerun = 40}));
}

TEST_F(SevenLayersInSegments, CutsWhereWhatCrossesIsDear) {
  EXPECT_EQ(dearest_cuts(problem, view, mirror, 1), (std::vector<OpIndex>{0}));
  EXPECT_EQ(dearest_cuts(problem, view, mirror, 3), (std::vector<OpIndex>{0, 3, 5}));
}

}  // namespace
}  // namespace ebb
