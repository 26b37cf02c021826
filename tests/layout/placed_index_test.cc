#include "layout/placed_index.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace ebb::layout {
namespace {

// Sections as sets, the plain way.
std::set<int> sections_of(int first, int count, int sections) {
  std::set<int> result;
  for (int k = 0; k < count; ++k) result.insert((first + k) % sections);
  return result;
}

bool meet(const std::set<int>& a, const std::set<int>& b) {
  for (const int s : a) {
    if (b.contains(s)) return true;
  }
  return false;
}

// Addresses of items that share a section with `item`, as they are known from what was placed.
std::set<Units> taken_beside(const Item& item, const std::vector<std::pair<Item, Units>>& placed,
                             int sections) {
  std::set<Units> taken;
  const std::set<int> mine = sections_of(item.first, item.count, sections);
  for (const auto& [other, offset] : placed) {
    if (!meet(mine, sections_of(other.first, other.count, sections))) continue;
    for (Units unit = offset; unit < offset + other.size; ++unit) taken.insert(unit);
  }
  return taken;
}

TEST(PlacedIndex, NamesTheAddressesOfEveryItemThatSharesASectionInOrder) {
  std::mt19937_64 random(3);
  for (const int sections : {1, 5, 70, 700}) {
    PlacedIndex index(sections);
    std::vector<std::pair<Item, Units>> placed;
    for (int n = 0; n < 150; ++n) {
      const Item item{
          .first = static_cast<int>(random() % sections),
          .count = 1 + static_cast<int>(random() % (n % 3 == 0 ? sections : std::min(sections, 20))),
          .size = 1 + static_cast<Units>(random() % 9)};
      std::set<Units> found;
      const auto add = [&](std::span<const PlacedItem> list, bool only_if_it_meets) {
        Units last = -1;
        for (const PlacedItem& other : list) {
          EXPECT_GE(other.offset, last);
          last = other.offset;
          if (only_if_it_meets && !index.meets(item, other)) continue;
          for (Units unit = other.offset; unit < other.top; ++unit) found.insert(unit);
        }
      };
      const Neighbours near = index.near(item);
      add(near.items, true);
      for (const std::span<const PlacedItem> ranges : near.ranges) add(ranges, false);
      ASSERT_EQ(found, taken_beside(item, placed, sections)) << "of " << sections << " sections";
      const auto offset = static_cast<Units>(random() % 1000);
      index.insert(item, offset);
      placed.emplace_back(item, offset);
    }
  }
}

TEST(PlacedIndex, AnItemMeetsAnotherIfTheyShareASection) {
  std::mt19937_64 random(5);
  const int sections = 40;
  PlacedIndex index(sections);
  for (int n = 0; n < 500; ++n) {
    const auto any = [&] { return static_cast<int>(random() % sections); };
    const Item item{.first = any(), .count = 1 + any(), .size = 1};
    const PlacedItem other{.offset = 0, .top = 1, .first = any(), .count = 1 + any()};
    EXPECT_EQ(index.meets(item, other), meet(sections_of(item.first, item.count, sections),
                                             sections_of(other.first, other.count, sections)));
  }
}

TEST(PlacedIndex, ManyThatLiveThroughABlockAreOneRangeToWhatLiesInIt) {
  const int sections = 1000;
  PlacedIndex index(sections);
  for (int n = 0; n < 500; ++n) index.insert({.first = n % 7, .count = 900, .size = 2}, 2 * n);
  for (int n = 0; n < 500; ++n) index.insert({.first = 0, .count = sections, .size = 1}, 1100 + n);
  const Neighbours near = index.near({.first = 400, .count = 3, .size = 1});
  EXPECT_EQ(near.size(), 2u);
}

}  // namespace
}  // namespace ebb::layout
