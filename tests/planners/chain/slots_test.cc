#include "planners/chain/slots.h"

#include <gtest/gtest.h>

#include "planners/chain/chain_schedule.h"
#include "planners/chain/random_chains.h"

namespace ebb {
namespace {

// 100 bytes in 10 slots; the link moves 10 bytes, a slot, in 10 ns.
TEST(InSlots, RoundsNeedsUpAndActivationsAndHiddenTransfersByPartialSums) {
  const Chain chain{
      .layers = {{.forward = 14, .backward = 9, .input = 13, .gradient = 1, .forward_extra = 11},
                 {.forward = 14, .backward = 9, .input = 13, .backward_extra = -11},
                 {.forward = 14, .backward = 9, .input = 13}},
      .output = 1,
      .output_gradient = 20,
      .bandwidth = 1'000'000'000};
  const SlotChain slots = in_slots(chain, 100, 10);
  EXPECT_EQ(slots.layers[0],
            (SlotLayer{.forward = 1, .backward = 0, .input = 2, .gradient = 1, .forward_extra = 2}));
  EXPECT_EQ(slots.layers[1], (SlotLayer{.forward = 1, .backward = 1, .input = 1, .backward_extra = -1}));
  EXPECT_EQ(slots.layers[2], (SlotLayer{.forward = 2, .backward = 1, .input = 1}));
  EXPECT_EQ(slots.output, 0);  // 40 bytes in all, 4 slots in all
  EXPECT_EQ(slots.output_gradient, 2);
  EXPECT_EQ(slots.memory, 10);
}

TEST(SolveInSlots, RoundsAnActivationUpUntilTheSetKeepsTheMemory) {
  // By partial sums x_1 and x_2 of 15 bytes are 1 and 2 slots of 10: with 1 it looks as if x_1 could stay.
  const Chain chain{.layers = {{.forward = 10, .backward = 10, .input = 15},
                               {.forward = 10, .backward = 10, .input = 15},
                               {.forward = 10, .backward = 10, .input = 5},
                               {.forward = 10, .backward = 10, .input = 5}},
                    .output = 5,
                    .bandwidth = 1'000'000'000};
  for (Bytes memory = chain.smallest_memory() + 10; memory <= chain.peak(); ++memory) {
    SCOPED_TRACE(testing::Message() << memory << " bytes");
    const auto solution = solve_in_slots(chain, memory, 4);
    if (solution) {
      EXPECT_TRUE(keeps_memory(chain, memory, solution->offloaded));
    }
  }
  const auto at_peak = solve_in_slots(chain, 2 * chain.peak(), 4);
  ASSERT_TRUE(at_peak);
  EXPECT_EQ(at_peak->bound, chain.compute_time());
}

TEST(SolveInSlots, WithAByteASlotItIsTheExactAnswer) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const SlotChain slots = random_slot_chain(random, random.between<std::size_t>(1, 10));
    const Chain chain = in_bytes(slots);
    EXPECT_EQ(in_slots(chain, slots.memory, slots.memory), slots);
    const auto exact = least_idle(slots);
    const auto solution = solve_in_slots(chain, slots.memory, slots.memory);
    ASSERT_EQ(exact.has_value(), solution.has_value());
    if (exact) {
      EXPECT_EQ(solution->bound, compute_slots(slots) + exact->idle);
      EXPECT_EQ(solution->rounds, 1);
    }
  }
}

TEST(SolveInSlots, CoarseSlotsNeverGiveASetThatDoesNotKeepTheMemory) {
  int rounded = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const SlotChain slots = random_slot_chain(random, random.between<std::size_t>(2, 12));
    const Chain chain = in_bytes(slots);
    const auto solution = solve_in_slots(chain, slots.memory, random.between<Slots>(2, 12));
    if (!solution) continue;
    rounded += solution->rounds > 1 ? 1 : 0;
    EXPECT_TRUE(chain_makespan(chain, slots.memory, solution->offloaded));
  }
  EXPECT_GT(rounded, 0);
}

}  // namespace
}  // namespace ebb
