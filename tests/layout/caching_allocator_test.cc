#include "layout/caching_allocator.h"

#include <gtest/gtest.h>

#include <random>

#include "trace/error.h"

namespace ebb::layout {
namespace {

using Segments = CachingAllocator::Segments;

TEST(CachingAllocator, SmallRequestsShareASegmentOfTwoMebibytes) {
  CachingAllocator allocator;
  for (int n = 0; n < 4; ++n) allocator.malloc(512 * kKiB);
  EXPECT_EQ(allocator.reserved(), 2 * kMiB);
  allocator.malloc(1);
  EXPECT_EQ(allocator.reserved(), 4 * kMiB);
}

TEST(CachingAllocator, MiddleRequestsGetSegmentsOfTwentyMebibytes) {
  CachingAllocator allocator;
  allocator.malloc(kMiB + 1);
  EXPECT_EQ(allocator.reserved(), 20 * kMiB);
  allocator.malloc(9 * kMiB);
  EXPECT_EQ(allocator.reserved(), 20 * kMiB);
}

TEST(CachingAllocator, LargeRequestsAreRoundedUpToTwoMebibytes) {
  CachingAllocator allocator;
  allocator.malloc(10 * kMiB);
  EXPECT_EQ(allocator.reserved(), 10 * kMiB);
  allocator.malloc(11 * kMiB);
  EXPECT_EQ(allocator.reserved(), 22 * kMiB);
}

TEST(CachingAllocator, ALargeBlockIsSplitOnlyIfMoreThanOneMebibyteIsLeft) {
  CachingAllocator allocator;
  allocator.free(allocator.malloc(12 * kMiB));
  allocator.malloc(11 * kMiB);  // leaves exactly 1 MiB: not split
  allocator.malloc(2 * kMiB);
  EXPECT_EQ(allocator.reserved(), 12 * kMiB + 20 * kMiB);
}

TEST(CachingAllocator, ASmallBlockIsSplitDownToTheLastPage) {
  CachingAllocator allocator;
  const Bytes first = allocator.malloc(1);
  EXPECT_EQ(allocator.malloc(1), first + 512);
}

TEST(CachingAllocator, SmallAndLargeRequestsNeverShare) {
  CachingAllocator allocator;
  allocator.free(allocator.malloc(5 * kMiB));
  allocator.malloc(kMiB);
  EXPECT_EQ(allocator.reserved(), 22 * kMiB);
}

TEST(CachingAllocator, FreeBlocksAreJoinedWithinASegmentOnly) {
  CachingAllocator allocator;
  const Bytes a = allocator.malloc(10 * kMiB), b = allocator.malloc(10 * kMiB);
  allocator.free(a);
  allocator.free(b);
  allocator.malloc(20 * kMiB);
  EXPECT_EQ(allocator.reserved(), 40 * kMiB);
}

TEST(CachingAllocator, ExpandableSegmentsGrowAndJoin) {
  CachingAllocator allocator(Segments::kExpandable);
  const Bytes a = allocator.malloc(10 * kMiB), b = allocator.malloc(10 * kMiB);
  EXPECT_EQ(allocator.reserved(), 20 * kMiB);
  allocator.free(a);
  allocator.free(b);
  allocator.malloc(30 * kMiB);
  EXPECT_EQ(allocator.reserved(), 40 * kMiB) << "pages of 20 MiB, the free 20 MiB reused";
}

TEST(CachingAllocator, FreeingWhatIsNotABlockIsAnError) {
  CachingAllocator allocator;
  EXPECT_THROW(allocator.free(0), InputError);
}

TEST(CachingAllocator, LiveBlocksNeverOverlap) {
  for (const Segments segments : {Segments::kFixed, Segments::kExpandable}) {
    std::mt19937_64 random(81);
    CachingAllocator allocator(segments);
    std::map<Bytes, Bytes> live;
    for (int n = 0; n < 5'000; ++n) {
      if (live.empty() || random() % 2 == 0) {
        const Bytes size = 1 + static_cast<Bytes>(random() % (n % 2 == 0 ? kMiB : 30 * kMiB));
        const Bytes address = allocator.malloc(size);
        const auto above = live.lower_bound(address);
        ASSERT_TRUE(above == live.end() || address + size <= above->first);
        ASSERT_TRUE(above == live.begin() || std::prev(above)->first + std::prev(above)->second <= address);
        live.emplace(address, size);
      } else {
        const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
        allocator.free(victim->first);
        live.erase(victim);
      }
    }
  }
}

}  // namespace
}  // namespace ebb::layout
