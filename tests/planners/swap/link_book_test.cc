#include "planners/swap/link_book.h"

#include <gtest/gtest.h>

#include "random_programs.h"

namespace ebb {
namespace {

TEST(LinkBook, AnEmptyLinkIsFreeAtOnceAndUntilTheEnd) {
  const LinkBook link(100);
  EXPECT_EQ(link.first_free(10, 50, 20), 10);
  EXPECT_EQ(link.last_free(10, 50, 20), 30);
  EXPECT_FALSE(link.first_free(10, 29, 20));
  EXPECT_FALSE(link.last_free(10, 29, 20));
}

TEST(LinkBook, AgreesWithLookingAtEveryNanosecond) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    LinkBook link(20);
    std::vector<bool> busy(20);
    auto free_at = [&](Nanoseconds start, Nanoseconds length) {
      for (Nanoseconds t = start; t < start + length; ++t)
        if (busy[static_cast<std::size_t>(t % 20)]) return false;
      return true;
    };
    for (int k = 0; k < 6; ++k) {
      const auto begin = random.between<Nanoseconds>(0, 19);
      const auto end = begin + random.between<Nanoseconds>(0, 19);
      const auto length = random.between<Nanoseconds>(1, 6);
      std::optional<Nanoseconds> first, last;
      for (Nanoseconds t = begin; t + length <= end; ++t) {
        if (!free_at(t, length)) continue;
        if (!first) first = t;
        last = t;
      }
      ASSERT_EQ(link.first_free(begin, end, length), first) << "seed " << seed;
      ASSERT_EQ(link.last_free(begin, end, length), last) << "seed " << seed;
      if (!first) continue;
      link.promise(*first, length);
      for (Nanoseconds t = *first; t < *first + length; ++t) busy[static_cast<std::size_t>(t % 20)] = true;
    }
  }
}

}  // namespace
}  // namespace ebb
