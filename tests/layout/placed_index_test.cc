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

TEST(PlacedIndex, FindsEveryItemThatSharesASectionInOrderOfOffset) {
  std::mt19937_64 random(3);
  for (const int sections : {1, 5, 70, 700}) {
    PlacedIndex index(sections);
    std::vector<Item> placed;
    for (int n = 0; n < 150; ++n) {
      const Item item{
          .first = static_cast<int>(random() % sections),
          .count = 1 + static_cast<int>(random() % (n % 3 == 0 ? sections : std::min(sections, 20))),
          .size = 1};
      const std::set<int> mine = sections_of(item.first, item.count, sections);
      int expected = 0;
      for (const Item& other : placed) {
        expected += meet(mine, sections_of(other.first, other.count, sections)) ? 1 : 0;
      }
      int found = 0;
      Units last = -1;
      for (const PlacedItem& other : index.near(item)) {
        const bool meets = meet(mine, sections_of(other.first, other.count, sections));
        EXPECT_EQ(index.meets(item, other), meets);
        EXPECT_GE(other.offset, last);
        last = other.offset;
        found += meets ? 1 : 0;
      }
      ASSERT_EQ(found, expected) << "of " << sections << " sections";
      index.insert(item, static_cast<Units>(random() % 1000));
      placed.push_back(item);
    }
  }
}

}  // namespace
}  // namespace ebb::layout
