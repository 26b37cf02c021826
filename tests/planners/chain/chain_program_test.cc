#include "planners/chain/chain_program.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "planners/chain/chain_schedule.h"
#include "planners/chain/random_chains.h"

namespace ebb {
namespace {

OffloadSet set_of(std::size_t layers, unsigned bits) {
  OffloadSet set(layers);
  for (std::size_t i = 0; i < layers; ++i) set[i] = (bits >> i & 1u) != 0;
  return set;
}

std::optional<Slots> least_by_trying(const SlotChain& chain) {
  std::optional<Slots> least;
  const std::size_t layers = chain.layers.size();
  for (unsigned bits = 0; bits < 1u << layers; ++bits) {
    const auto makespan = stepped_makespan(chain, set_of(layers, bits));
    if (makespan && (!least || *makespan < *least)) least = makespan;
  }
  return least;
}

void expect_least(const SlotChain& chain) {
  const auto found = least_idle(chain);
  const auto least = least_by_trying(chain);
  ASSERT_EQ(found.has_value(), least.has_value());
  if (!found) return;
  EXPECT_EQ(compute_slots(chain) + found->idle, *least);
  EXPECT_EQ(stepped_makespan(chain, found->offloaded), *least);
}

bool soak() { return std::getenv("EBB_SOAK") != nullptr; }

TEST(LeastIdle, EqualsTryingEverySetOnSmallChains) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    expect_least(random_slot_chain(random, random.between<std::size_t>(1, 8)));
  }
}

TEST(LeastIdle, EqualsTryingEverySetOnChainsOfUpTo14Layers) {
  const std::uint64_t last = soak() ? 1000 : 12;
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(10'000 + seed);
    expect_least(random_slot_chain(random, random.between<std::size_t>(9, soak() ? 14 : 10)));
  }
}

// [OFF] fig. 3 with the values 3, 1, 2: a partition into two halves of 3 takes time 2, in slots 2 · 3.
TEST(LeastIdle, FindsThePartitionOfTheHardnessProof) {
  const Slots half = 3;
  SlotChain chain{.memory = 2 * half};
  for (const Slots value : {3, 1, 2}) chain.layers.push_back({.input = value});
  chain.layers.push_back({.forward = half, .backward = half});
  chain.layers.push_back({});
  chain.layers.push_back({.input = half});
  const auto found = least_idle(chain);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->idle, 0);
  Slots sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += found->offloaded[i] ? chain.x(i) : 0;
  EXPECT_EQ(sum, half);
}

TEST(LeastIdle, SaysThatALayerDoesNotFit) {
  EXPECT_FALSE(least_idle({.layers = {{.input = 3}}, .output = 3, .memory = 5}));
}

TEST(LeastIdle, WholeTransfersAreNeverFasterThanTheBoundOrInterruptedOnes) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const SlotChain slots = random_slot_chain(random, random.between<std::size_t>(1, 14));
    const auto found = least_idle(slots);
    if (!found) continue;
    const Chain chain = in_bytes(slots);
    const auto makespan = chain_makespan(chain, slots.memory, found->offloaded);
    ASSERT_TRUE(makespan);
    EXPECT_GE(*makespan, compute_slots(slots) + found->idle);
    EXPECT_GE(compute_slots(slots) + found->idle, chain.lower_bound(slots.memory));
  }
}

}  // namespace
}  // namespace ebb
