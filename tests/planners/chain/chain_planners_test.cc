#include "planners/chain/chain_planners.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "literal_programs.h"
#include "machine/presets.h"
#include "planners/chain/chain_view.h"
#include "planners/chain/threshold.h"
#include "planners/judge.h"
#include "trace/load.h"

namespace ebb {
namespace {

// Eight convolutions that each make 8 bytes in 10 ns, and their backward.
Program eight_convolutions() {
  std::vector<Op> ops;
  std::vector<Block> blocks;
  const BlockId n = 8;
  for (BlockId b = 0; b < n; ++b) {
    Op forward = b == 0 ? op({writes(b)}) : op({reads(b - 1), writes(b)});
    forward.name = "convolution";
    forward.phase = Phase::forward;
    ops.push_back(forward);
    blocks.push_back(local(8, b, 2 * n - 1 - b));
  }
  for (BlockId b = n; b-- > 0;) {
    ops.push_back(op({reads(b)}));
    ops.back().phase = Phase::backward;
  }
  return literal_program(ops, blocks);
}

const Machine kByteANanosecond{
    .bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000, .exclusive = true};

std::vector<BlockId> leaving(const Plan& plan, const Gaps& gaps) {
  std::vector<BlockId> blocks;
  for (GapId g = 0; g < gaps.count(); ++g)
    if (plan[g].action == Action::swap) blocks.push_back(gaps[g].block);
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

double finding(const PlanningResult& result, const char* name) {
  for (const Finding& found : result.findings)
    if (found.name == name) return found.value;
  ADD_FAILURE() << "no finding named " << name;
  return 0;
}

TEST(Greedy, OffloadsTheFirstActivations) {
  const Program program = eight_convolutions();
  const Gaps gaps(program);
  const PlanningResult result = plan_greedy({program, gaps, kByteANanosecond, 64 - 17}, {});
  ASSERT_FALSE(result.infeasible);
  EXPECT_EQ(leaving(result.plan, gaps), (std::vector<BlockId>{0, 1, 2}));
  EXPECT_EQ(finding(result, "chain lower bound"), 160);
  EXPECT_EQ(finding(result, "chain makespan"), 160);
  EXPECT_EQ(finding(result, "step ratio"), 1);
}

TEST(DynProg, IsNoSlowerThanGreedyWhereSizesDoNotAddUp) {
  // 12 bytes too many: greedy takes the first two, 8 + 30, where 12 alone is enough.
  std::vector<Op> ops;
  const std::vector<Bytes> sizes = {8, 30, 12, 8, 8, 8};
  std::vector<Block> blocks;
  const auto n = static_cast<BlockId>(sizes.size());
  for (BlockId b = 0; b < n; ++b) {
    ops.push_back(b == 0 ? op({writes(b)}, 5) : op({reads(b - 1), writes(b)}, 5));
    ops.back().phase = Phase::forward;
    blocks.push_back(local(sizes[static_cast<std::size_t>(b)], b, 2 * n - 1 - b));
  }
  for (BlockId b = n; b-- > 0;) {
    ops.push_back(op({reads(b)}, 5));
    ops.back().phase = Phase::backward;
  }
  const Program program = literal_program(ops, blocks);
  const Gaps gaps(program);
  const PlanningProblem problem{program, gaps, kByteANanosecond, program.peak_demand() - 12};
  const PlanningResult greedy = plan_greedy(problem, {});
  const PlanningResult dynprog = plan_dynprog(problem, {});
  EXPECT_EQ(leaving(greedy.plan, gaps), (std::vector<BlockId>{0, 1}));
  const std::vector<BlockId> chosen = leaving(dynprog.plan, gaps);
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), 1), 0) << "the largest can stay";
  EXPECT_LT(finding(dynprog, "chain makespan"), finding(greedy, "chain makespan"));
  EXPECT_LT(finding(dynprog, "step ratio"), finding(greedy, "step ratio"));
}

TEST(Vdnn, EveryLayerWaitsForTheCopyBefore) {
  const Program program = eight_convolutions();
  const Gaps gaps(program);
  const PlanningProblem problem{program, gaps, kByteANanosecond, 40};
  const PlanningResult result = plan_vdnn(problem, {.settings = {{"inputs", 1}}});
  ASSERT_FALSE(result.infeasible);
  EXPECT_EQ(leaving(result.plan, gaps), (std::vector<BlockId>{0, 1, 2, 3, 4, 5, 6}));
  for (GapId g = 0; g < gaps.count(); ++g) {
    if (result.plan[g].action != Action::swap) continue;
    const Gap& gap = gaps[g];
    EXPECT_EQ(result.plan[g].out_after, gap.from - 1);  // beside the layer that reads it
    EXPECT_EQ(result.plan[g].out_by, gap.from + 1);     // and the next one waits
    EXPECT_EQ(result.plan[g].in_from, gap.to - 1);      // returns while the layer before runs
  }
}

TEST(Vdnn, WaitsCostTimeThatVdnnPlusDoesNotPay) {
  const Program program = eight_convolutions();
  const Gaps gaps(program);
  Machine slow = kByteANanosecond;
  slow.bandwidth_out = slow.bandwidth_in = 500'000'000;
  const PlanningProblem problem{program, gaps, slow, 48};
  const JudgedPlan waits = plan_and_judge(find_planner("vdnn"), problem, {});
  const JudgedPlan runs = plan_and_judge(find_planner("vdnn++"), problem, {});
  ASSERT_FALSE(waits.infeasible || runs.infeasible);
  EXPECT_GT(waits.step.step_time, runs.step.step_time);
  EXPECT_GT(waits.step.stalls[static_cast<std::size_t>(StallCause::sync)], 0);
}

TEST(VdnnPlus, TakesEveryOtherConvolutionIfThatIsEnough) {
  const Program program = eight_convolutions();
  const Gaps gaps(program);
  const PlanningProblem problem{program, gaps, kByteANanosecond, 40};
  const PlanningResult half = plan_vdnn_plus(problem, {.settings = {{"every", 2}}});
  EXPECT_EQ(leaving(half.plan, gaps), (std::vector<BlockId>{0, 2, 4, 6}));
  const PlanningResult all = plan_vdnn_plus(problem, {.settings = {{"every", 1}}});
  EXPECT_EQ(leaving(all.plan, gaps), (std::vector<BlockId>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Threshold, OffersEverySetAboveAThresholdAndHalfOfIt) {
  const Chain chain{
      .layers = {{.forward = 1, .input = 10}, {.forward = 9, .input = 10}, {}, {.forward = 5, .input = 10}}};
  EXPECT_EQ(threshold_sets(chain), (std::vector<OffloadSet>{{false, true, false, false},
                                                            {false, true, false, false},
                                                            {false, true, false, true},
                                                            {false, true, false, false},
                                                            {true, true, false, true},
                                                            {true, false, false, true}}));
  EXPECT_EQ(threshold_sets(chain, 1).size(), 2u);
  EXPECT_EQ(threshold_sets(chain, 1).front(), (OffloadSet{true, true, false, true}));
}

TEST(ChainPlanners, TheChainsMakespanIsCloseToTheStepItStandsFor) {
  const Program program = load_program(EBB_SOURCE_DIR "/data/resnet50.json.gz");
  const Gaps gaps(program);
  for (const int percent : {80, 60, 50})
    for (const auto plan : {plan_greedy, plan_dynprog}) {
      const PlanningResult result =
          plan({program, gaps, find_preset("v100-pcie3"), program.peak_demand() / 100 * percent}, {});
      ASSERT_FALSE(result.infeasible);
      EXPECT_NEAR(finding(result, "chain ratio"), finding(result, "step ratio"), 0.05) << percent << " %";
      EXPECT_GE(finding(result, "chain ratio"), 1);
    }
}

}  // namespace
}  // namespace ebb
