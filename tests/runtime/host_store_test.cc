#include "runtime/host_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/faulty/faulty_backend.h"
#include "backend/null/null_backend.h"

namespace ebb {
namespace {

TEST(HostStore, FillsASlabBeforeItTakesAnother) {
  NullBackend backend;
  HostStore store(backend, {.slab_bytes = 4096});
  std::vector<Event> waits;
  const auto a = store.take(2048, waits);
  const auto b = store.take(2048, waits);
  const auto c = store.take(1, waits);
  EXPECT_EQ(a->slab, b->slab);
  EXPECT_NE(c->slab, b->slab);
  EXPECT_EQ(store.reserved(), 8192);
  EXPECT_EQ(store.in_use(), 4096 + 512);
}

TEST(HostStore, GivesALargeBlockASlabOfItsOwnThatOthersUseLater) {
  NullBackend backend;
  HostStore store(backend, {.slab_bytes = 4096});
  std::vector<Event> waits;
  const auto large = store.take(10'000, waits);
  store.give(*large, 5);
  const auto small = store.take(512, waits);
  EXPECT_EQ(small->slab, large->slab);
  EXPECT_EQ(waits, std::vector<Event>{5}) << "reuse waits for the copy that used it before";
  EXPECT_EQ(backend.counts().slabs, 1);
}

TEST(HostStore, ABlockGetsThePlaceThatOneOfItsSizeLeftLast) {
  NullBackend backend;
  HostStore store(backend, {.slab_bytes = 16'384});
  std::vector<Event> waits;
  const auto a = store.take(1000, waits);
  const auto b = store.take(1024, waits);
  const auto c = store.take(2048, waits);
  store.give(*a, 5);
  store.give(*b, 9);
  store.give(*c, 13);
  EXPECT_EQ(store.in_use(), 0);
  EXPECT_EQ(store.take(1020, waits), b);
  EXPECT_EQ(waits, std::vector<Event>{9});
  EXPECT_EQ(store.take(1024, waits), a);
  EXPECT_EQ(waits, (std::vector<Event>{9, 5}));
  EXPECT_EQ(store.take(2048, waits), c);
  EXPECT_EQ(store.in_use(), 4096);
}

TEST(HostStore, JoinsWhatBlocksOfOtherSizesLeftBeforeItTakesAnotherSlab) {
  NullBackend backend;
  HostStore store(backend, {.slab_bytes = 4096});
  std::vector<Event> waits;
  const auto a = store.take(1024, waits);
  const auto b = store.take(2048, waits);
  const auto c = store.take(1024, waits);
  store.give(*a, 5);
  store.give(*b, 10);
  const auto both = store.take(3072, waits);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->region, (Region{0, 3072}));
  EXPECT_EQ(waits, (std::vector<Event>{5, 10})) << "reuse waits for the copies that used its parts before";
  store.give(*both, kHappened);
  store.give(*c, kHappened);
  EXPECT_TRUE(store.take(4096, waits));
  EXPECT_EQ(backend.counts().slabs, 1);
}

TEST(HostStore, BlocksOfMoreSizesThanItHasShelvesForComeAndGo) {
  NullBackend backend;
  HostStore store(backend, {.slab_bytes = kMiB * 16});
  std::vector<Event> waits;
  for (int round = 0; round < 3; ++round) {
    std::vector<HostPlace> places;
    for (Bytes size = 1; size <= 200; ++size)
      places.push_back(*store.take((size + round) * Arena::kAlignment, waits));
    std::sort(places.begin(), places.end(),
              [](const HostPlace& x, const HostPlace& y) { return x.region.offset < y.region.offset; });
    for (std::size_t i = 1; i < places.size(); ++i)
      ASSERT_LE(places[i - 1].region.end(), places[i].region.offset) << "two blocks in one place";
    for (const HostPlace& place : places) store.give(place, kHappened);
    EXPECT_EQ(store.in_use(), 0);
  }
  EXPECT_EQ(backend.counts().slabs, 1);
  EXPECT_EQ(store.take(16 * kMiB, waits)->region, (Region{0, 16 * kMiB}));
}

TEST(HostStore, RefusesWhatPassesItsLimitAndSaysTheSizes) {
  NullBackend backend;
  HostStore store(backend, {.limit = 6144, .slab_bytes = 4096});
  std::vector<Event> waits;
  EXPECT_TRUE(store.take(4096, waits));
  EXPECT_TRUE(store.take(2048, waits)) << "the last slab may be smaller";
  EXPECT_FALSE(store.take(512, waits));
  EXPECT_EQ(store.refusal(), "host memory is full: 512 bytes asked for, 6144 of 6144 in use, 6144 in slabs");
  EXPECT_EQ(store.high_water(), 6144);
}

TEST(HostStore, RefusesWhenTheMachineHasNoMore) {
  ScarceHostMemory backend(std::make_unique<NullBackend>(), 4096);
  HostStore store(backend, {.slab_bytes = 4096});
  std::vector<Event> waits;
  EXPECT_TRUE(store.take(4096, waits));
  EXPECT_FALSE(store.take(512, waits));
  EXPECT_NE(store.refusal().find("injected fault"), std::string::npos);
}

}  // namespace
}  // namespace ebb
