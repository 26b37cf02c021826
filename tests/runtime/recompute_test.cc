// Blocks that are dropped and computed again.
#include <gtest/gtest.h>

#include "runtime/device_fixture.h"
#include "trace/error.h"

namespace ebb::testing {
namespace {

constexpr Bytes k4 = 4 * kKiB;

// a (an input), b = a + 1, and then so much else that b is dropped.
class Recompute : public ::testing::Test {
 protected:
  void drop_b() {
    EXPECT_TRUE(d.is(b, BlockState::resident));
    while (!d.is(b, BlockState::dropped) && filler.size() < 4) filler.push_back(d.input(2 * k4, 99));
    ASSERT_TRUE(d.is(b, BlockState::dropped));
  }
  SmallDevice d{{.limit = 4 * k4, .allow_recompute = true}};
  Handle a = d.input(k4, 1);
  Handle b = d.increment(a, k4);
  std::vector<Handle> filler;
};

TEST_F(Recompute, BringsADroppedBlockBackByRunningItsOpAgain) {
  drop_b();
  EXPECT_EQ(d.value(b, k4), 2);
  EXPECT_EQ(d.device.statistics().replays, 1);
  EXPECT_EQ(d.device.statistics().remakes, 1);
}

TEST_F(Recompute, BringsADroppedBlockBackBeforeItsInputIsWritten) {
  drop_b();
  d.increment_in_place(a, k4);
  EXPECT_EQ(d.device.statistics().protected_remakes, 1);
  EXPECT_EQ(d.value(a, k4), 2);
  EXPECT_EQ(d.value(b, k4), 2) << "made from the old content";
}

TEST_F(Recompute, BringsADroppedBlockBackBeforeAProgramWritesItsInputThroughAPin) {
  drop_b();
  std::memset(d.device.pin(a, PinFor::writing).data(), 50, static_cast<std::size_t>(k4));
  EXPECT_EQ(d.value(b, k4), 2);
}

TEST_F(Recompute, KeepsTheBytesOfAFreedInputForADroppedBlock) {
  drop_b();
  d.device.free(a);
  EXPECT_TRUE(d.is(a, BlockState::dead));
  EXPECT_EQ(d.device.statistics().kept_for_replay, 1);
  EXPECT_EQ(d.value(b, k4), 2);
  for (const Handle block : filler) d.device.free(block);
  d.device.free(b);
  EXPECT_EQ(d.device.statistics().blocks, 0) << "and lets them go with it";
}

TEST_F(Recompute, MakesAFreedInputAgainIfItCanItself) {
  const Handle c = d.increment(b, k4);
  d.device.free(b);
  while (!d.is(c, BlockState::dropped) && filler.size() < 4) filler.push_back(d.input(2 * k4, 99));
  ASSERT_TRUE(d.is(c, BlockState::dropped));
  EXPECT_EQ(d.value(c, k4), 3);
  EXPECT_EQ(d.device.statistics().replays, 2) << "b's op on a temporary, then c's";
  EXPECT_EQ(d.device.statistics().kept_for_replay, 0);
}

TEST_F(Recompute, ReplaysChangesInPlaceOnATemporary) {
  d.increment_in_place(b, k4);
  drop_b();
  EXPECT_EQ(d.value(b, k4), 3);
  EXPECT_EQ(d.device.statistics().replays, 2);
  EXPECT_EQ(d.value(a, k4), 1);
}

// A library may need its cache again, of another size than any birth, when an op runs on another thread.
TEST_F(Recompute, AMallocThatTheOpDidNotMakeWhenItRanFirstStaysUntilItIsFreed) {
  Handle made = 0, cache = 0;
  int runs = 0;
  d.device.exec({.name = "with cache", .replayable = true}, {&a, 1}, {}, [&](ExecContext& c) {
    if (++runs == 2) {
      cache = c.malloc(k4 / 2);
      EXPECT_TRUE(c.is_extra(cache));
      std::memset(c.data(cache), 7, static_cast<std::size_t>(k4 / 2));
    }
    const Handle birth = c.malloc(k4);
    EXPECT_FALSE(c.is_extra(birth));
    std::memset(c.data(birth), 42, static_cast<std::size_t>(k4));
    if (runs == 1) made = birth;
  });
  d.device.free(b);
  while (!d.is(made, BlockState::dropped) && filler.size() < 4) filler.push_back(d.input(2 * k4, 99));
  ASSERT_TRUE(d.is(made, BlockState::dropped));
  EXPECT_EQ(d.value(made, k4), 42);
  ASSERT_EQ(runs, 2);
  for (int i = 0; i < 3; ++i) filler.push_back(d.input(k4, 99));
  EXPECT_TRUE(d.is(cache, BlockState::resident)) << "whoever malloc'd it knows its address";
  EXPECT_EQ(d.value(cache, k4 / 2), 7);
  d.device.free(cache);
  EXPECT_TRUE(d.is(cache, BlockState::dead));
}

TEST_F(Recompute, GivesARandomOpItsSeedAgain) {
  std::vector<std::uint64_t> seeds;
  d.device.exec({.name = "noise", .replayable = true, .random = true}, {}, {&b, 1},
                [&, this](ExecContext& c) {
                  seeds.push_back(c.seed());
                  std::memset(c.data(b), static_cast<int>(c.seed() % 251), static_cast<std::size_t>(k4));
                });
  drop_b();
  EXPECT_EQ(d.value(b, k4), static_cast<int>(seeds[0] % 251));
  ASSERT_EQ(seeds.size(), 2u);
  EXPECT_EQ(seeds[0], seeds[1]);
}

TEST_F(Recompute, RepeatsNoSideEffect) {
  const Handle count = d.input(512, 0);
  const auto made = std::make_shared<Handle>(0);
  d.device.exec({.name = "norm", .replayable = true, .side_effects = {&count, 1}}, {&a, 1}, {},
                [made, count, this](ExecContext& c) {
                  *made = c.malloc(k4);
                  std::memcpy(c.data(*made), c.data(a), static_cast<std::size_t>(k4));
                  c.data(count)[0] = static_cast<std::byte>(static_cast<int>(c.data(count)[0]) + 1);
                });
  while (!d.is(*made, BlockState::dropped) && filler.size() < 4) filler.push_back(d.input(2 * k4, 99));
  ASSERT_TRUE(d.is(*made, BlockState::dropped));
  EXPECT_EQ(d.value(*made, k4), 1);
  EXPECT_EQ(static_cast<int>(d.device.pin(count, PinFor::reading).data()[0]), 1);
}

TEST_F(Recompute, HasNoMemoryForSideEffectsThatItDoesWithout) {
  const Handle count = d.input(512, 0);
  const auto made = std::make_shared<Handle>(0);
  int replays = 0;
  d.device.exec({.name = "norm", .replayable = true, .side_effects = {&count, 1}}, {&a, 1}, {},
                [&, made, count, this](ExecContext& c) {
                  const auto compute = [made, this](ExecContext& context) {
                    *made = context.malloc(k4);
                    std::memcpy(context.data(*made), context.data(a), static_cast<std::size_t>(k4));
                  };
                  compute(c);
                  c.data(count)[0] = std::byte{1};
                  c.set_recipe(
                      [&replays, compute, count](ExecContext& again) {
                        ++replays;
                        compute(again);
                        EXPECT_THROW(again.data(count), InputError);
                      },
                      SideEffects::none);
                });
  while (!d.is(*made, BlockState::dropped) && filler.size() < 4) filler.push_back(d.input(2 * k4, 99));
  ASSERT_TRUE(d.is(*made, BlockState::dropped));
  EXPECT_EQ(d.value(*made, k4), 1);
  EXPECT_EQ(replays, 1);
  EXPECT_EQ(static_cast<int>(d.device.pin(count, PinFor::reading).data()[0]), 1);
}

TEST_F(Recompute, DropsOnlyWhatMayBeReplayed) {
  const Handle c = d.increment(a, k4, false);
  for (int i = 0; i < 3; ++i) filler.push_back(d.input(2 * k4, 99));
  EXPECT_TRUE(d.is(c, BlockState::on_host));
  EXPECT_EQ(d.value(c, k4), 2);
}

TEST(RecomputeForLong, BringsABlockBackBeforeItsStepsExpire) {
  SmallDevice d({.limit = 4 * k4, .allow_recompute = true, .recipe_steps = 8});
  const Handle a = d.input(k4, 1);
  const Handle b = d.increment(a, k4);
  const Handle c = d.input(2 * k4, 7);
  const Handle e = d.input(2 * k4, 8);
  ASSERT_TRUE(d.is(b, BlockState::dropped));
  for (int i = 0; i < 20; ++i) d.increment_in_place(c, 2 * k4);
  EXPECT_FALSE(d.is(b, BlockState::dropped));
  EXPECT_EQ(d.device.statistics().protected_remakes, 1);
  EXPECT_LE(d.device.statistics().recorded_steps, 9);
  EXPECT_EQ(d.value(b, k4), 2);
  EXPECT_EQ(d.value(e, 2 * k4), 8);
}

TEST(RecomputeForLong, DoesNotGrowOverTenThousandIterations) {
  SmallDevice d({.limit = 6 * k4, .allow_recompute = true, .recipe_steps = 64, .trace_events = 500});
  const Handle weight = d.input(k4, 0), input = d.input(k4, 1);
  DeviceStatistics early;
  for (int i = 0; i < 10'000; ++i) {
    std::vector<Handle> activations = {input};
    for (int layer = 0; layer < 6; ++layer) activations.push_back(d.increment(activations.back(), k4));
    for (int layer = 6; layer > 0; --layer) {
      const Handle gradient = d.increment(activations.back(), k4);
      d.device.exec({.name = "update", .replayable = true}, {&gradient, 1}, {&weight, 1},
                    [=](ExecContext& c) { c.data(weight)[0] ^= c.data(gradient)[0]; });
      d.device.free(gradient);
      d.device.free(activations.back());
      activations.pop_back();
    }
    if (i == 99) early = d.device.statistics();
  }
  const DeviceStatistics late = d.device.statistics();
  EXPECT_GT(late.drops, 10'000);
  EXPECT_EQ(late.blocks, early.blocks);
  EXPECT_EQ(late.host_reserved, early.host_reserved);
  EXPECT_LE(late.host_high_water, 2 * early.host_high_water);
  EXPECT_LE(late.recorded_steps, 65);
}

}  // namespace
}  // namespace ebb::testing
