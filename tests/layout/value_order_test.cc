#include "layout/value_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace ebb::layout {
namespace {

Instance twenty_items() {
  Instance instance{.sections = 20, .items = {}, .base = std::vector<Units>(20, 0)};
  for (int i = 0; i < 20; ++i)
    instance.items.push_back({.first = i, .count = 1, .size = 1 + i % 5, .source = i});
  return instance;
}

TEST(ValueOrder, RanksAreAPermutation) {
  const Instance instance = twenty_items();
  ValueOrder order(instance, 1);
  order.draw();
  std::vector<int> ranks;
  for (int i = 0; i < 20; ++i) ranks.push_back(order.rank(i));
  std::sort(ranks.begin(), ranks.end());
  std::vector<int> expected(20);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(ranks, expected);
}

TEST(ValueOrder, IsTheSameForTheSameSeedAndChangesWithEachDraw) {
  const Instance instance = twenty_items();
  ValueOrder a(instance, 9), b(instance, 9);
  std::vector<std::vector<int>> drawn;
  for (int n = 0; n < 3; ++n) {
    a.draw();
    b.draw();
    drawn.emplace_back();
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(a.rank(i), b.rank(i));
      drawn.back().push_back(a.rank(i));
    }
  }
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_NE(drawn[1], drawn[2]);
}

}  // namespace
}  // namespace ebb::layout
