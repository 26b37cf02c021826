#include "runtime/residents.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace ebb {
namespace {

using Place = Residence::Place;

// Asked often and seldom: a few changes in between, or more than are noted.
TEST(Residents, AreInOrderWhenSomebodyAsks) {
  std::mt19937 random(7);
  BlockTable table;
  Residents residents(table);
  std::map<Bytes, PagedBlock*> expected;
  for (int asked = 0; asked < 20; ++asked) {
    const int changes = asked % 2 ? 5'000 : 20;
    for (int i = 0; i < changes; ++i) {
      const Bytes offset = static_cast<Bytes>(random() % 200);
      if (const auto at = expected.find(offset); at != expected.end()) {
        residents.remove(*at->second);
        at->second->at = {};
        table.erase(*at->second);
        expected.erase(at);
        continue;
      }
      PagedBlock& block = table.create(1);
      block.at = {.place = Place::device, .region = {offset, 1}};
      residents.add(block);
      expected.emplace(offset, &block);
    }
    auto found = residents.in_order().begin();
    ASSERT_EQ(residents.in_order().size(), expected.size());
    for (const auto& [offset, block] : expected) {
      ASSERT_EQ(found->first, offset);
      ASSERT_EQ(found->second, block);
      ++found;
    }
  }
}

TEST(Residents, ABlockTakesThePlaceOfAnother) {
  BlockTable table;
  Residents residents(table);
  PagedBlock& before = table.create(1);
  before.at = {.place = Place::device, .region = {512, 1}};
  residents.add(before);
  PagedBlock& after = table.create(1);
  after.at = std::exchange(before.at, {});
  residents.add(after);
  ASSERT_EQ(residents.in_order().size(), 1u);
  EXPECT_EQ(residents.in_order().begin()->second, &after);
}

}  // namespace
}  // namespace ebb
