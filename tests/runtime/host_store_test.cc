#include "runtime/host_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/faulty/faulty_backend.h"
#include "backend/null/null_backend.h"

namespace ebb {
namespace {

// On a backend that counts.
struct CountedStore {
  explicit CountedStore(const HostStoreOptions& options) : store(backend, options) {}
  std::optional<HostPlace> take(Bytes bytes) { return store.take(bytes, waits); }
  NullBackend backend;
  HostStore store;
  std::vector<Event> waits = {};  // of all that were taken
};

TEST(HostStore, FillsASlabBeforeItTakesAnother) {
  CountedStore host({.slab_bytes = 4096});
  const auto a = host.take(2048);
  const auto b = host.take(2048);
  const auto c = host.take(1);
  EXPECT_EQ(a->slab, b->slab);
  EXPECT_NE(c->slab, b->slab);
  EXPECT_EQ(host.store.reserved(), 8192);
  EXPECT_EQ(host.store.in_use(), 4096 + 512);
}

TEST(HostStore, GivesALargeBlockASlabOfItsOwnThatOthersUseLater) {
  CountedStore host({.slab_bytes = 4096});
  const auto large = host.take(10'000);
  host.store.give(*large, 5);
  const auto small = host.take(512);
  EXPECT_EQ(small->slab, large->slab);
  EXPECT_EQ(host.waits, std::vector<Event>{5}) << "reuse waits for the copy that used it before";
  EXPECT_EQ(host.backend.counts().slabs, 1);
}

TEST(HostStore, ABlockGetsThePlaceThatOneOfItsSizeLeftLast) {
  CountedStore host({.slab_bytes = 16'384});
  const auto a = host.take(1000);
  const auto b = host.take(1024);
  const auto c = host.take(2048);
  host.store.give(*a, 5);
  host.store.give(*b, 9);
  host.store.give(*c, 13);
  EXPECT_EQ(host.store.in_use(), 0);
  EXPECT_EQ(host.take(1020), b);
  EXPECT_EQ(host.waits, std::vector<Event>{9});
  EXPECT_EQ(host.take(1024), a);
  EXPECT_EQ(host.waits, (std::vector<Event>{9, 5}));
  EXPECT_EQ(host.take(2048), c);
  EXPECT_EQ(host.store.in_use(), 4096);
}

TEST(HostStore, JoinsWhatBlocksOfOtherSizesLeftBeforeItTakesAnotherSlab) {
  CountedStore host({.slab_bytes = 4096});
  const auto a = host.take(1024);
  const auto b = host.take(2048);
  const auto c = host.take(1024);
  host.store.give(*a, 5);
  host.store.give(*b, 10);
  const auto both = host.take(3072);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->region, (Region{0, 3072}));
  EXPECT_EQ(host.waits, (std::vector<Event>{5, 10}))
      << "reuse waits for the copies that used its parts before";
  host.store.give(*both, kHappened);
  host.store.give(*c, kHappened);
  EXPECT_TRUE(host.take(4096));
  EXPECT_EQ(host.backend.counts().slabs, 1);
}

TEST(HostStore, BlocksOfMoreSizesThanItHasShelvesForComeAndGo) {
  CountedStore host({.slab_bytes = kMiB * 16});
  for (int round = 0; round < 3; ++round) {
    std::vector<HostPlace> places;
    for (Bytes size = 1; size <= 200; ++size)
      places.push_back(*host.take((size + round) * Arena::kAlignment));
    std::sort(places.begin(), places.end(),
              [](const HostPlace& x, const HostPlace& y) { return x.region.offset < y.region.offset; });
    for (std::size_t i = 1; i < places.size(); ++i)
      ASSERT_LE(places[i - 1].region.end(), places[i].region.offset) << "two blocks in one place";
    for (const HostPlace& place : places) host.store.give(place, kHappened);
    EXPECT_EQ(host.store.in_use(), 0);
  }
  EXPECT_EQ(host.backend.counts().slabs, 1);
  EXPECT_EQ(host.take(16 * kMiB)->region, (Region{0, 16 * kMiB}));
}

TEST(HostStore, RefusesWhatPassesItsLimitAndSaysTheSizes) {
  CountedStore host({.limit = 6144, .slab_bytes = 4096});
  EXPECT_TRUE(host.take(4096));
  EXPECT_TRUE(host.take(2048)) << "the last slab may be smaller";
  EXPECT_FALSE(host.take(512));
  EXPECT_EQ(host.store.refusal(),
            "host memory is full: 512 bytes asked for, 6144 of 6144 in use, 6144 in slabs");
  EXPECT_EQ(host.store.high_water(), 6144);
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
