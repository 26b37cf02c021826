#include "layout/pool.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "trace/error.h"

namespace ebb::layout {
namespace {

TEST(BestFitPool, StartsAtItsBaseAndRoundsSizesUp) {
  BestFitPool pool({.base = 4096});
  EXPECT_EQ(pool.malloc(1), 4096);
  EXPECT_EQ(pool.malloc(513), 4096 + 512);
  EXPECT_EQ(pool.in_use(), 1536);
  EXPECT_EQ(pool.footprint(), 1536);
}

TEST(BestFitPool, TakesTheSmallestHoleAndOfEqualOnesTheLowest) {
  BestFitPool pool;
  std::vector<Bytes> blocks;
  for (const Bytes size : {2048, 512, 1024, 512, 1024, 512}) blocks.push_back(pool.malloc(size).value());
  pool.free(blocks[0]);
  pool.free(blocks[2]);
  pool.free(blocks[4]);
  EXPECT_EQ(pool.malloc(1000), blocks[2]);
  EXPECT_EQ(pool.malloc(1000), blocks[4]);
  EXPECT_EQ(pool.malloc(1000), blocks[0]);
}

TEST(BestFitPool, JoinsFreeNeighboursOnBothSides) {
  BestFitPool pool;
  const Bytes a = pool.malloc(512).value(), b = pool.malloc(512).value(), c = pool.malloc(512).value();
  ASSERT_TRUE(pool.malloc(512));
  pool.free(a);
  pool.free(c);
  pool.free(b);
  EXPECT_EQ(pool.malloc(1536), a);
}

TEST(BestFitPool, FreeingEverythingLeavesOneHole) {
  BestFitPool pool({.capacity = 4096});
  std::vector<Bytes> blocks;
  for (int n = 0; n < 8; ++n) blocks.push_back(pool.malloc(512).value());
  EXPECT_FALSE(pool.malloc(1));
  for (const int n : {3, 0, 7, 1, 5, 2, 6, 4}) pool.free(blocks[n]);
  EXPECT_EQ(pool.in_use(), 0);
  EXPECT_EQ(pool.malloc(4096), 0);
}

TEST(BestFitPool, ARequestThatDoesNotFitGetsNothing) {
  BestFitPool pool({.capacity = 1024});
  EXPECT_FALSE(pool.malloc(1025));
  EXPECT_FALSE(pool.malloc(std::numeric_limits<Bytes>::max()));
  EXPECT_TRUE(pool.malloc(1024));
}

TEST(BestFitPool, FreeingWhatIsNotABlockIsAnError) {
  BestFitPool pool;
  EXPECT_THROW(pool.free(0), InputError);
  const Bytes block = pool.malloc(512).value();
  pool.free(block);
  EXPECT_THROW(pool.free(block), InputError);
}

TEST(BestFitPool, LiveBlocksNeverOverlap) {
  std::mt19937_64 random(71);
  BestFitPool pool;
  std::map<Bytes, Bytes> live;
  for (int n = 0; n < 20'000; ++n) {
    if (live.empty() || random() % 2 == 0) {
      const Bytes size = 1 + static_cast<Bytes>(random() % 10'000);
      const Bytes address = pool.malloc(size).value();
      const auto above = live.lower_bound(address);
      ASSERT_TRUE(above == live.end() || address + size <= above->first);
      ASSERT_TRUE(above == live.begin() || std::prev(above)->first + std::prev(above)->second <= address);
      live.emplace(address, size);
    } else {
      const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      pool.free(victim->first);
      live.erase(victim);
    }
  }
}

}  // namespace
}  // namespace ebb::layout
