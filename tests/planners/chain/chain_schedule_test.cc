#include "planners/chain/chain_schedule.h"

#include <gtest/gtest.h>

#include "planners/chain/random_chains.h"

namespace ebb {
namespace {

constexpr Bytes kGigabyteASecond = 1'000'000'000;

// Three layers of 10 ns each way whose activations take 8 ns to move; the peak is 4 · 8.
Chain three_layers() {
  return {.layers = {{.forward = 10, .backward = 10, .input = 8},
                     {.forward = 10, .backward = 10, .input = 8},
                     {.forward = 10, .backward = 10, .input = 8}},
          .output = 8,
          .bandwidth = kGigabyteASecond};
}

TEST(ChainSchedule, NothingLeavesAtThePeak) {
  const Chain chain = three_layers();
  EXPECT_EQ(chain.peak(), 32);
  EXPECT_EQ(chain.smallest_memory(), 16);
  EXPECT_EQ(chain_makespan(chain, 32, {false, false, false}), 60);
  EXPECT_FALSE(chain_makespan(chain, 31, {false, false, false}));
}

TEST(ChainSchedule, ATransferThatLayersHideCostsNothing) {
  EXPECT_EQ(chain_makespan(three_layers(), 24, {true, false, false}), 60);
}

// F hides the ways out, x_0 in [0, 8), x_1 in [10, 18), x_2 in [20, 28). On the way back there is no room
// beside a layer: x_2, x_1 and x_0 return after F_2, B_2 and B_1 have ended.
TEST(ChainSchedule, WithoutRoomBesideALayerReturnsWaitForIt) {
  EXPECT_EQ(chain_makespan(three_layers(), 16, {true, true, true}), 60 + 3 * 8);
}

// x_0 leaves in [0, 22). With 38 bytes F_1 runs beside it and F_2 waits from 20; with 37 F_1 waits from 10,
// and B_1 leaves no room for its return.
TEST(ChainSchedule, ALayerWaitsForMemoryUntilAWholeActivationHasLeft) {
  Chain chain = three_layers();
  chain.layers[0].input = 22;
  chain.layers[1].backward = 40;
  EXPECT_EQ(chain_makespan(chain, 38, {true, false, false}), 90 + 2);
  EXPECT_EQ(chain_makespan(chain, 37, {true, false, false}), 90 + 12 + 22);
}

TEST(ChainSchedule, TheBoundCountsBothWaysOfWhatDoesNotFit) {
  EXPECT_EQ(three_layers().lower_bound(32), 60);
  EXPECT_EQ(three_layers().lower_bound(0), 64);
}

TEST(ChainSchedule, GreedyOffloadsTheFirstUntilTheySuffice) {
  const Chain chain = three_layers();
  EXPECT_EQ(greedy_offloads(chain, 32), OffloadSet({false, false, false}));
  EXPECT_EQ(greedy_offloads(chain, 31), OffloadSet({true, false, false}));
  EXPECT_EQ(greedy_offloads(chain, 24), OffloadSet({true, false, false}));
  EXPECT_EQ(greedy_offloads(chain, 23), OffloadSet({true, true, false}));
}

TEST(ChainSchedule, ASetKeepsTheMemoryIfAndOnlyIfItHasASchedule) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const SlotChain slots = random_slot_chain(random, random.between<std::size_t>(1, 14));
    const Chain chain = in_bytes(slots);
    OffloadSet set(chain.size());
    for (std::size_t i = 0; i < set.size(); ++i) set[i] = random.chance(60);
    const auto makespan = chain_makespan(chain, slots.memory, set);
    EXPECT_EQ(makespan.has_value(), keeps_memory(chain, slots.memory, set));
    const auto interrupted = stepped_makespan(slots, set);
    EXPECT_EQ(makespan.has_value(), interrupted.has_value());
    if (makespan) {
      EXPECT_GE(*makespan, *interrupted);
      EXPECT_GE(*makespan, chain.lower_bound(slots.memory));
    }
  }
}

}  // namespace
}  // namespace ebb
