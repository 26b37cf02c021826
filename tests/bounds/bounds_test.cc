#include "simulate/bounds.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "machine/presets.h"
#include "trace/load.h"

namespace ebb {
namespace {

constexpr Bytes kOneBytePerNanosecond = 1'000'000'000;

Machine slow_links() {
  return {.name = "slow", .bandwidth_out = kOneBytePerNanosecond, .bandwidth_in = kOneBytePerNanosecond};
}

Access reads(BlockId block) { return {.block = block, .reads = true}; }
Access writes(BlockId block) { return {.block = block, .writes = true}; }
Access updates(BlockId block) { return {.block = block, .reads = true, .writes = true}; }

Op op(Nanoseconds duration, std::vector<Access> accesses, Bytes workspace = 0) {
  return {.name = "op",
          .duration = duration,
          .workspace = workspace,
          .accesses = std::move(accesses),
          .births = {}};
}

Block local(Bytes bytes, OpIndex birth, OpIndex death) {
  return {.bytes = bytes, .lifetime = Lifetime::local, .birth = birth, .death = death};
}
Block persistent(Bytes bytes) { return {.bytes = bytes, .lifetime = Lifetime::persistent}; }

Program program(std::vector<Op> ops, std::vector<Block> blocks) {
  return Program::build({.name = "test", .smallest_managed = 1}, std::move(ops), std::move(blocks));
}

Bounds bounds_of(const Program& program, const Machine& machine, Bytes limit,
                 const BoundOptions& options = {}) {
  return bounds(program, Gaps(program), machine, limit, options);
}

// x (100 bytes) is made by op 0 and read by op 2; op 1 needs 50 bytes beside it, so at 100 bytes half of x
// must go.
Program one_gap() {
  return program({op(10, {writes(0)}), op(10, {}, 50), op(10, {reads(0)})}, {local(100, 0, 2)});
}

TEST(Bounds, WithoutALimitComputeIsAllThatBinds) {
  const Bounds result = bounds_of(one_gap(), slow_links(), 150);
  for (const Bound* bound :
       {&result.compute, &result.transfer, &result.cover, &result.fluid_swap, &result.fluid})
    EXPECT_EQ(bound->step_time, 30);
  EXPECT_EQ(result.best(PlanKind::any).kind, BoundKind::compute);
}

TEST(Bounds, ComputeWaitsForIssueTimesAndScalesToTheMachine) {
  std::vector<Op> ops = {op(10, {}), op(10, {})};
  ops[1].issue = 25;
  Machine machine = slow_links();
  machine.compute_scale = 2;
  EXPECT_EQ(bounds_of(program(ops, {}), machine, 0).compute.step_time, 45);
}

TEST(Bounds, TransferIsWhatMustCrossTheLinkOnceEachWay) {
  Machine machine = slow_links();
  EXPECT_EQ(bounds_of(one_gap(), machine, 100).transfer.step_time, 50);
  machine.bandwidth_in /= 2;
  EXPECT_EQ(bounds_of(one_gap(), machine, 100).transfer.step_time, 100);
  machine.exclusive = true;
  EXPECT_EQ(bounds_of(one_gap(), machine, 100).transfer.step_time, 150);
}

TEST(Bounds, TransferSharesACappedLink) {
  Machine machine = slow_links();
  machine.bandwidth_both = kOneBytePerNanosecond * 5 / 4;  // both at once: each stretched 1.6 times
  EXPECT_EQ(bounds_of(one_gap(), machine, 100).transfer.step_time, 80);
}

TEST(Bounds, FluidAddsTheTimeInWhichCopiesCannotHide) {
  // Half of x goes out beside op 0 (10 ns) and while op 1 waits (40), and comes in beside ops 1 and 2 (20)
  // and while op 2 waits (30).
  EXPECT_EQ(bounds_of(one_gap(), slow_links(), 100).fluid_swap.step_time, 100);
  // Recomputing half of x by running op 0 again costs 5 ns; a tenth of x can go out beside op 0 instead.
  EXPECT_EQ(bounds_of(one_gap(), slow_links(), 100).cover.step_time, 35);
  EXPECT_EQ(bounds_of(one_gap(), slow_links(), 100).fluid.step_time, 34);
}

TEST(Bounds, CopiesSlowComputeDownByTheTimeTheyRunBesideIt) {
  Machine machine = slow_links();
  machine.compute_stretch = {1'000'000, 1'250'000, 1'250'000, 1'250'000};
  // Ops 0 to 2 take 12.5 each beside copies: 37.5 of copying beside them, 62.5 while they wait.
  EXPECT_EQ(bounds_of(one_gap(), machine, 100).fluid_swap.step_time, 100);
  EXPECT_EQ(bounds_of(one_gap(), machine, 100, {.slowdown = false}).fluid_swap.step_time, 100);
  machine.bandwidth_out = machine.bandwidth_in = 10 * kOneBytePerNanosecond;  // 5 ns each way
  EXPECT_EQ(bounds_of(one_gap(), machine, 100).fluid_swap.step_time, 32);
  EXPECT_EQ(bounds_of(one_gap(), machine, 100, {.slowdown = false}).fluid_swap.step_time, 30);
}

TEST(Bounds, WorkspaceCountsUnlessToldOtherwise) {
  EXPECT_EQ(bounds_of(one_gap(), slow_links(), 100, {.workspace = false}).fluid_swap.step_time, 30);
}

// y is made of x, which is freed at once; y must leave at op 2, or x is kept in its place.
Program made_of_a_dead_block(Bytes x, Bytes y) {
  return program({op(1000, {writes(0)}), op(10, {reads(0), writes(1)}), op(10, {}, 100), op(10, {reads(1)})},
                 {local(x, 0, 1), local(y, 1, 3)});
}

TEST(Bounds, ADeadBlockAsLargeAsWhatIsMadeOfItRunsAgainToo) {
  const Bounds result = bounds_of(made_of_a_dead_block(40, 40), slow_links(), 100);
  EXPECT_EQ(result.cover.step_time, 1030 + 1010);
}

TEST(Bounds, ASmallerDeadBlockMayBeKept) {
  const Bounds result = bounds_of(made_of_a_dead_block(4, 40), slow_links(), 104);
  EXPECT_LE(*result.cover.step_time, 1030 + 10);
}

TEST(Bounds, AHostCopyIsWrittenOncePerContent) {
  // x is absent at ops 1 and 3: out once, in twice.
  const Program twice =
      program({op(0, {writes(0)}), op(0, {}, 100), op(0, {reads(0)}), op(0, {}, 100), op(0, {reads(0)})},
              {local(100, 0, 4)});
  EXPECT_EQ(bounds_of(twice, slow_links(), 100).fluid_swap.step_time, 300);
}

TEST(Bounds, ABlockThatIsNeverWrittenNeedsNoCopyOut) {
  const Program weight = program({op(0, {reads(0)}), op(0, {}, 100), op(0, {reads(0)})}, {persistent(100)});
  EXPECT_EQ(bounds_of(weight, slow_links(), 100).fluid_swap.step_time, 100);
  EXPECT_EQ(bounds_of(weight, slow_links(), 100).transfer.step_time, 100);
  EXPECT_FALSE(bounds_of(weight, slow_links(), 100).cover.step_time);
}

TEST(Bounds, ATrailingGapNeedsNoReturnAndMayBeForgotten) {
  const Program trailing = program({op(10, {writes(0)}), op(10, {}, 100), op(10, {})}, {local(100, 0, 2)});
  const Bounds result = bounds_of(trailing, slow_links(), 100);
  EXPECT_EQ(result.fluid_swap.step_time, 120);  // out beside op 0, and 90 more
  EXPECT_EQ(result.fluid.step_time, 30);
  EXPECT_EQ(result.cover.step_time, 30);
}

TEST(Bounds, AGradientThatOutlivesTheStepIsCopiedOutButNotForgotten) {
  // Born at op 1, freed at op 0 of the next iteration; op 2 has no room for it.
  const Program wrapping = program({op(10, {}), op(10, {writes(0)}), op(10, {}, 100)},
                                   {{.bytes = 100, .lifetime = Lifetime::wrapping, .birth = 1, .death = 0}});
  const Bounds result = bounds_of(wrapping, slow_links(), 100);
  EXPECT_EQ(result.fluid.step_time, 110);  // out beside op 0 and op 1 as slices see it, and 80 more
  EXPECT_FALSE(result.cover.step_time);
}

TEST(Bounds, OneRunOfAnOpServesAllItsOutputs) {
  const Program pair =
      program({op(20, {writes(0), writes(1)}), op(5, {}, 20), op(5, {reads(0)}), op(5, {reads(1)})},
              {local(10, 0, 2), local(10, 0, 3)});
  EXPECT_EQ(bounds_of(pair, slow_links(), 20).cover.step_time, 35 + 20);
}

TEST(Bounds, AContentMadeInPlaceCostsTheWholeChain) {
  const Program chain = program({op(30, {writes(0)}), op(5, {updates(0)}), op(5, {}, 10), op(5, {reads(0)})},
                                {local(10, 0, 3)});
  EXPECT_EQ(bounds_of(chain, slow_links(), 10).cover.step_time, 45 + 35);
}

TEST(Bounds, WhatCannotBeRunAgainCannotBeDropped) {
  std::vector<Op> ops = {op(10, {writes(0)}), op(10, {}, 50), op(10, {reads(0)})};
  ops[0].replayable = false;
  const Bounds result = bounds_of(program(ops, {local(100, 0, 2)}), slow_links(), 100);
  EXPECT_FALSE(result.cover.step_time);
  EXPECT_EQ(result.cover.least_limit, 150);
  EXPECT_EQ(result.fluid.step_time, 100);
}

TEST(Bounds, BelowWhatAnOpNeedsNothingFits) {
  const Bounds result = bounds_of(one_gap(), slow_links(), 99);
  EXPECT_FALSE(result.best(PlanKind::any).step_time);
  EXPECT_EQ(result.fluid.least_limit, 100);
  EXPECT_EQ(result.ratio(result.fluid), std::numeric_limits<double>::infinity());
}

TEST(Bounds, TheBindingBoundIsTheLargestThatHolds) {
  const Bounds result = bounds_of(one_gap(), slow_links(), 100);
  EXPECT_EQ(result.best(PlanKind::swap_only).step_time, 100);
  EXPECT_EQ(result.best(PlanKind::swap_only).kind, BoundKind::fluid);
  EXPECT_EQ(result.best(PlanKind::recompute_only).step_time, 35);
  EXPECT_EQ(result.best(PlanKind::any).step_time, 34);
  EXPECT_NEAR(result.ratio(result.fluid), 34.0 / 30, 1e-9);
}

TEST(Bounds, FewSlicesAreWeakerNeverWrong) {
  std::vector<Op> ops = {op(10, {writes(0)})};
  for (int i = 0; i < 20; ++i) ops.push_back(op(10, {}, 30 + i));
  ops.push_back(op(10, {reads(0)}));
  const Program long_gap = program(ops, {local(100, 0, 21)});
  const Nanoseconds all = *bounds_of(long_gap, slow_links(), 100).fluid_swap.step_time;
  for (int slices : {1, 2, 5})
    EXPECT_LE(*bounds_of(long_gap, slow_links(), 100, {.slices = slices}).fluid_swap.step_time, all);
}

// Known values of these bounds, where the graphs are at hand.
class PeerFigures : public testing::Test {
 protected:
  static Bounds of(const char* graph, double fraction, Bytes bandwidth) {
    const Program program = load_program(path(graph));
    Machine machine = slow_links();
    machine.bandwidth_in = machine.bandwidth_out = bandwidth;
    const auto limit = static_cast<Bytes>(fraction * static_cast<double>(program.peak_demand()));
    return bounds_of(program, machine, limit, {.workspace = false, .slowdown = false});
  }
  static std::string path(const char* graph) {
    return std::string(EBB_SOURCE_DIR) + "/../shared/data/graphs/" + graph;
  }
  void SetUp() override {
    if (!std::filesystem::exists(path("dtr-resnet32.json.gz")))
      GTEST_SKIP() << "the shared graphs are not here";
  }
};

TEST_F(PeerFigures, CoverOfResnet32) {
  for (const auto& [fraction, ratio] : {std::pair{.9, 1.0118}, {.7, 1.0361}}) {
    const Bounds result = of("dtr-resnet32.json.gz", fraction, 12'000'000'000);
    EXPECT_NEAR(result.ratio(result.cover), ratio, 1e-4);
  }
}

// Below 60 % sums of residual blocks have to leave too, and dead inputs with them: the known values take
// those to be there for nothing.
TEST_F(PeerFigures, CoverOfResnet32ChargesForDeadInputs) {
  for (const auto& [fraction, known, ours] : {std::tuple{.5, 1.0693, 1.0887}, {.3, 1.1334, 1.1652}}) {
    const Bounds result = of("dtr-resnet32.json.gz", fraction, 12'000'000'000);
    EXPECT_GT(result.ratio(result.cover), known);
    EXPECT_NEAR(result.ratio(result.cover), ours, 1e-4);
  }
}

TEST_F(PeerFigures, FluidOfResnet32) {
  const Bounds slow = of("dtr-resnet32.json.gz", .5, 12'000'000'000);
  EXPECT_NEAR(slow.ratio(slow.fluid), 1.0479, 1e-3);  // 1.046 if dead inputs cost nothing
  const Bounds fast = of("dtr-resnet32.json.gz", .5, 50'000'000'000);
  EXPECT_NEAR(fast.ratio(fast.fluid), 1.005, 1e-3);
}

TEST_F(PeerFigures, FluidOfVisionTransformer) {
  const Program program = load_program(path("g10-VIT_1280.json.gz"));
  const Bounds result = bounds_of(program, find_preset("a100-15.75"), 40 * kGiB);
  EXPECT_NEAR(result.ratio(result.fluid), 1.000, 5e-4);
}

}  // namespace
}  // namespace ebb
