#include "runtime/host_store.h"

#include <gtest/gtest.h>

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
  store.give(*large, std::vector<Event>{5});
  const auto small = store.take(512, waits);
  EXPECT_EQ(small->slab, large->slab);
  EXPECT_EQ(waits, std::vector<Event>{5}) << "reuse waits for the copy that used it before";
  EXPECT_EQ(backend.counts().slabs, 1);
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
