#include "runtime/device.h"

#include <map>
#include <set>

#include "backend/host/host_backend.h"
#include "expect_error.h"
#include "runtime/device_fixture.h"

namespace ebb::testing {
namespace {

template <typename Function>
std::string out_of_memory_of(Function&& function) {
  try {
    function();
  } catch (const OutOfMemory& error) {
    return error.what();
  }
  return "(no OutOfMemory)";
}

constexpr Bytes k4 = 4 * kKiB;

TEST(Device, MovesIdleBlocksToTheHostWhenRoomIsWanted) {
  SmallDevice d({.limit = 2 * k4});
  const Handle a = d.input(k4, 1), b = d.input(k4, 2), c = d.input(k4, 3);
  EXPECT_TRUE(d.is(a, BlockState::on_host)) << "the one that was idle longest";
  EXPECT_EQ(d.value(a, k4), 1);
  EXPECT_EQ(d.value(b, k4), 2);
  EXPECT_EQ(d.value(c, k4), 3);
  EXPECT_LE(d.device.statistics().arena_high_water, 2 * k4);
}

TEST(Device, MovesNothingWhenItObserves) {
  SmallDevice d({.limit = 2 * k4, .mode = Mode::observe});
  d.input(k4, 1);
  d.input(k4, 2);
  EXPECT_TRUE(contains_all(out_of_memory_of([&] { d.device.malloc(512); }), {"512 bytes", "limit 8192"}));
  EXPECT_EQ(d.device.statistics().evictions, 0);
}

TEST(Device, CopiesACleanBlockOutOnlyOnce) {
  SmallDevice d({.limit = k4});
  const Handle a = d.input(k4, 1);
  const Handle b = d.input(k4, 2);
  EXPECT_EQ(d.value(a, k4), 1);
  EXPECT_EQ(d.value(b, k4), 2);
  EXPECT_EQ(d.value(a, k4), 1);
  EXPECT_EQ(d.device.statistics().bytes_out, 2 * k4);
  EXPECT_EQ(d.device.statistics().clean_evictions, 2);
  d.increment_in_place(a, k4);
  EXPECT_EQ(d.value(b, k4), 2);
  EXPECT_EQ(d.value(a, k4), 2) << "its host copy went stale when it was written";
}

TEST(Device, NamesTheOpThatCannotFit) {
  SmallDevice d({.limit = 2 * k4});
  const Handle a = d.input(k4, 1);
  const std::string error = out_of_memory_of([&] {
    d.device.exec({.name = "huge"}, {&a, 1}, {}, [](ExecContext& c) { c.malloc(2 * k4); });
  });
  EXPECT_TRUE(contains_all(error, {"op huge", "8192 bytes", "operands of 4096", "limit 8192"})) << error;
  const Handle many[] = {a, d.input(k4, 2), d.input(k4, 3)};
  EXPECT_TRUE(
      contains_all(out_of_memory_of([&] { d.device.exec({.name = "wide"}, many, {}, [](ExecContext&) {}); }),
                   {"op wide", "12288 bytes", "limit 8192"}));
  EXPECT_EQ(d.value(a, k4), 1);
}

TEST(Device, SaysWhenTheHostIsFull) {
  SmallDevice d({.limit = k4, .host_limit = k4});
  d.input(k4, 1);
  const Handle b = d.input(k4, 2);
  EXPECT_TRUE(contains_all(out_of_memory_of([&] { d.device.malloc(k4); }),
                           {"limit 4096", "host memory is full", "4096 of 4096"}));
  EXPECT_EQ(d.value(b, k4), 2);
}

TEST(Device, PassesExceptionsOnAndStaysConsistent) {
  SmallDevice d({.limit = 2 * k4, .allow_recompute = true});
  const Handle a = d.input(k4, 1);
  Handle born = 0;
  EXPECT_THROW(d.device.exec({.name = "throws", .replayable = true}, {}, {&a, 1},
                             [&](ExecContext& c) {
                               std::memset(c.data(a), 9, 10);
                               born = c.malloc(k4);
                               throw std::logic_error("no");
                             }),
               std::logic_error);
  EXPECT_EQ(static_cast<int>(d.device.pin(a, PinFor::reading).data()[0]), 9);
  EXPECT_TRUE(d.is(born, BlockState::resident)) << "a birth stays, its owner frees it";
  d.device.free(born);
  EXPECT_EQ(d.device.statistics().blocks, 1);
}

TEST(Device, RunsAnAbandonedOpOnceMoreWithTheSameSeed) {
  SmallDevice d({.limit = 8 * k4});
  // Blocks with operands between them: no window is large enough while the operands are pinned.
  std::vector<Handle> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(d.input(k4, i));
  const Handle operands[] = {blocks[1], blocks[3], blocks[5]};
  std::vector<std::uint64_t> seeds;
  Handle made = 0;
  d.device.exec({.name = "needs much"}, operands, {}, [&](ExecContext& c) {
    seeds.push_back(c.seed());
    made = c.malloc(5 * k4);
    std::memset(c.data(made), static_cast<int>(c.data(operands[1])[7]) + 40, 5 * k4);
  });
  ASSERT_EQ(seeds.size(), 2u);
  EXPECT_EQ(seeds[0], seeds[1]);
  EXPECT_EQ(d.device.statistics().abandoned_ops, 1);
  EXPECT_EQ(d.value(made, 5 * k4), 43);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(d.value(blocks[static_cast<std::size_t>(i)], k4), i);
  d.device.free(made);
  d.device.exec({.name = "needs much"}, operands, {}, [&](ExecContext& c) {
    seeds.push_back(c.seed());
    c.free(c.malloc(5 * k4));
  });
  EXPECT_EQ(seeds.size(), 3u) << "the second time the hole is made before";
}

TEST(Device, RestoresWhatAnAbandonedOpChangedInPlace) {
  SmallDevice d({.limit = 8 * k4});
  std::vector<Handle> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(d.input(k4, i));
  const Handle operands[] = {blocks[1], blocks[3], blocks[5]};
  int runs = 0;
  d.device.exec({.name = "in place"}, operands, operands, [&](ExecContext& c) {
    ++runs;
    for (const Handle h : operands)
      c.data(h)[0] = static_cast<std::byte>(static_cast<int>(c.data(h)[0]) + 10);
    c.free(c.malloc(5 * k4));
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(static_cast<int>(d.device.pin(blocks[3], PinFor::reading).data()[0]), 13) << "changed once";
}

TEST(Device, RestoresABlockThatTheProgramHasPinnedToo) {
  SmallDevice d({.limit = 8 * k4});
  std::vector<Handle> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(d.input(k4, i));
  const Handle operands[] = {blocks[1], blocks[2], blocks[4]};
  const Pin pin = d.device.pin(blocks[1], PinFor::reading);
  int runs = 0;
  d.device.exec({.name = "in place"}, operands, operands, [&](ExecContext& c) {
    ++runs;
    c.data(operands[0])[0] = static_cast<std::byte>(static_cast<int>(c.data(operands[0])[0]) + 10);
    c.free(c.malloc(4 * k4));
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(static_cast<int>(pin.data()[0]), 11);
}

TEST(Device, GivesEveryOpASeedOfItsOwn) {
  SmallDevice d({.limit = k4, .seed = 5});
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 100; ++i)
    d.device.exec({.name = "random", .random = true}, {}, {},
                  [&](ExecContext& c) { seeds.insert(c.seed()); });
  EXPECT_EQ(seeds.size(), 100u);
}

TEST(Device, LeavesABlockFreedWhilePinnedToItsPin) {
  SmallDevice d({.limit = 2 * k4});
  const Handle a = d.input(k4, 5);
  Pin pin = d.device.pin(a, PinFor::reading);
  d.device.free(a);
  EXPECT_TRUE(d.is(a, BlockState::dead));
  const Handle b = d.input(k4, 6), c = d.input(k4, 7);
  EXPECT_EQ(static_cast<int>(pin.data()[100]), 5);
  pin.release();
  EXPECT_EQ(d.device.statistics().blocks, 2);
  EXPECT_EQ(d.value(b, k4) + d.value(c, k4), 13);
}

TEST(Device, RejectsBlocksThatDoNotExist) {
  SmallDevice d({.limit = 2 * k4});
  const Handle a = d.device.malloc(512);
  d.device.free(a);
  EXPECT_INPUT_ERROR(d.device.free(a), "does not exist");
  EXPECT_INPUT_ERROR(d.device.exec({.name = "late"}, {&a, 1}, {}, [](ExecContext&) {}), "op late",
                     "does not exist");
  EXPECT_INPUT_ERROR(d.device.malloc(-1), "-1 bytes");
  EXPECT_INPUT_ERROR((SmallDevice({.limit = 0})), "limit of 0 bytes");
}

TEST(Device, TreatsAnExecInsideAnExecAsPartOfIt) {
  SmallDevice d({.limit = 3 * k4, .allow_recompute = true});
  const Handle a = d.input(k4, 1), b = d.input(k4, 2);
  Device& device = d.device;
  device.exec({.name = "outer", .replayable = true}, {&a, 1}, {}, [&device, a, b](ExecContext&) {
    device.exec({.name = "inner", .replayable = true}, {&a, 1}, {&b, 1},
                [a, b](ExecContext& c) { std::memcpy(c.data(b), c.data(a), static_cast<std::size_t>(k4)); });
  });
  const Handle c = d.input(k4, 3), e = d.input(k4, 4);
  EXPECT_EQ(d.value(b, k4), 1);
  EXPECT_EQ(d.value(c, k4) + d.value(e, k4), 7);
  EXPECT_EQ(d.device.statistics().ops, 1);
}

TEST(Device, TellsWhereBlocksMove) {
  std::map<Handle, std::byte*> told;
  SmallDevice d({.limit = 8 * kKiB, .on_move = [&](Handle block, std::byte* at) { told[block] = at; }});
  const Handle a = d.input(4 * kKiB, 1);
  EXPECT_TRUE(told.empty());
  d.device.evict_all();
  ASSERT_TRUE(told.contains(a));
  EXPECT_EQ(told[a], nullptr);
  const Pin pin = d.device.pin(a, PinFor::reading);
  EXPECT_EQ(told[a], pin.data());
}

TEST(Device, EvictsAllThatIsNotPinned) {
  SmallDevice d({.limit = 8 * kKiB});
  const Handle a = d.input(kKiB, 1), b = d.input(kKiB, 2);
  const Pin pin = d.device.pin(b, PinFor::reading);
  d.device.evict_all();
  EXPECT_FALSE(d.is(a, BlockState::resident));
  EXPECT_TRUE(d.is(b, BlockState::resident));
  EXPECT_EQ(d.value(a, kKiB), 1);
}

TEST(Device, LeavesSmallBlocksAloneForAWhile) {
  SmallDevice d({.limit = 64 * kKiB, .small_rest = 2});
  const Handle small = d.input(256, 1), large = d.input(kKiB, 2);
  const Handle used = d.increment(small, 256);
  d.device.evict_all();
  EXPECT_TRUE(d.is(small, BlockState::resident));
  EXPECT_TRUE(d.is(used, BlockState::resident));
  EXPECT_FALSE(d.is(large, BlockState::resident));
  for (int i = 0; i < 2; ++i) d.increment(large, kKiB);
  d.device.evict_all();
  EXPECT_FALSE(d.is(small, BlockState::resident));
}

TEST(Device, SettledBlocksCanBeReadWhereTheyAre) {
  SmallDevice d({.limit = 16 * kKiB, .allow_recompute = true});
  const Handle a = d.input(kKiB, 1);
  const Handle b = d.increment(a, kKiB);
  d.device.evict_all();
  ASSERT_TRUE(d.is(b, BlockState::dropped));
  d.device.settle();
  for (const auto& [block, value] : {std::pair{a, 1}, std::pair{b, 2}}) {
    const std::byte* bytes = d.device.readable(block);
    ASSERT_NE(bytes, nullptr);
    for (Bytes i = 0; i < kKiB; ++i) ASSERT_EQ(static_cast<int>(bytes[i]), value);
  }
}

TEST(Device, ShowsBlocksOnTheirWay) {
  HostBackend backend({.link = {.bytes_per_second_out = 2'000'000, .bytes_per_second_in = 2'000'000}});
  Device device(backend, {.limit = 16 * kKiB, .smallest_managed = 512, .host_slab = 64 * kKiB});
  const Handle a = device.malloc(16 * kKiB);
  std::memset(device.pin(a, PinFor::writing).data(), 3, 16 * kKiB);
  const Handle b = device.malloc(512);  // compute waits here until a has left
  EXPECT_TRUE(device.state(a) == BlockState::on_host);
  device.free(b);
  const Pin pin = device.pin(a, PinFor::reading);
  EXPECT_TRUE(device.state(a) == BlockState::resident);
  EXPECT_EQ(static_cast<int>(pin.data()[16 * kKiB - 1]), 3);
}

}  // namespace
}  // namespace ebb::testing
