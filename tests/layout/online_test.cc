#include "layout/online.h"

#include <gtest/gtest.h>

#include "layout/random_problems.h"

namespace ebb::layout {
namespace {

using Kind = MemoryEvent::Kind;

TEST(EventsOf, AreInOrderOfTimeWithFreesFirst) {
  const Problem problem{
      .buffers = {{.id = 0, .begin = 2, .end = 5, .size = 1}, {.id = 1, .begin = 0, .end = 2, .size = 1}}};
  EXPECT_EQ(
      events_of(problem),
      (std::vector<MemoryEvent>{{Kind::kMalloc, 1}, {Kind::kFree, 1}, {Kind::kMalloc, 0}, {Kind::kFree, 0}}));
}

TEST(EventsOf, BeginWithWhatWrapsAroundTheRing) {
  const Problem problem{.buffers = {{.id = 0, .begin = 2, .end = 5, .size = 1},
                                    {.id = 1, .begin = 8, .end = 11, .size = 1},
                                    {.id = 2, .begin = 3, .end = 13, .size = 1}},
                        .period = 10};
  EXPECT_EQ(events_of(problem), (std::vector<MemoryEvent>{{Kind::kMalloc, 1},
                                                          {Kind::kMalloc, 2},
                                                          {Kind::kFree, 1},
                                                          {Kind::kMalloc, 0},
                                                          {Kind::kFree, 0},
                                                          {Kind::kMalloc, 1}}));
}

TEST(Online, CnmemFragmentsWhereAPlannerWouldNot) {
  // When c comes, the hole that a left is 512 bytes too small.
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 2, .size = 1024},
                                    {.id = 1, .begin = 1, .end = 4, .size = 512},
                                    {.id = 2, .begin = 3, .end = 4, .size = 1536}}};
  EXPECT_EQ(peak_load(problem), 2048);
  EXPECT_EQ(cnmem_footprint(problem), 1024 + 512 + 1536);
}

TEST(Online, PyTorchReservesWholeSegments) {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 2, .size = 1}}};
  EXPECT_EQ(caching_allocator_footprint(problem, CachingAllocator::Segments::kFixed), 2 * kMiB);
  EXPECT_EQ(caching_allocator_footprint(problem, CachingAllocator::Segments::kExpandable), 2 * kMiB);
}

TEST(Online, NoModelUsesLessThanTheLoad) {
  std::mt19937_64 random(91);
  for (int n = 0; n < 100; ++n) {
    const Problem problem =
        random_problem(random, {.buffers = 50, .horizon = 60, .largest = 40 * kMiB, .cyclic = n % 2 == 0});
    EXPECT_GE(cnmem_footprint(problem), peak_load(problem));
    EXPECT_GE(caching_allocator_footprint(problem, CachingAllocator::Segments::kFixed), peak_load(problem));
    EXPECT_GE(caching_allocator_footprint(problem, CachingAllocator::Segments::kExpandable),
              peak_load(problem));
  }
}

}  // namespace
}  // namespace ebb::layout
