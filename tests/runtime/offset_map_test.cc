#include "runtime/offset_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace ebb {
namespace {

void expect_same(const OffsetMap<int>& map, const std::map<Bytes, int>& expected) {
  ASSERT_EQ(map.size(), expected.size());
  auto it = map.begin();
  for (const auto& [offset, value] : expected) {
    ASSERT_NE(it, map.end());
    ASSERT_EQ(it->first, offset);
    ASSERT_EQ(it->second, value);
    ++it;
  }
  ASSERT_EQ(it, map.end());
  for (auto back = expected.rbegin(); back != expected.rend(); ++back) ASSERT_EQ((--it)->first, back->first);
}

// Grows to many chunks, shrinks to none, and so on.
TEST(OffsetMap, DoesWhatAStdMapDoes) {
  std::mt19937 random(7);
  OffsetMap<int> map;
  std::map<Bytes, int> expected;
  for (int n = 0; n < 40'000; ++n) {
    const Bytes offset = static_cast<Bytes>(random() % 3000);
    const bool grows = n / 5'000 % 2 == 0;
    const bool adds = random() % 4 < (grows ? 3u : 1u);
    if (adds && !expected.contains(offset)) {
      map.emplace(offset, n);
      expected.emplace(offset, n);
    } else if (!adds && !expected.empty()) {
      const auto at = map.lower_bound(offset);
      const auto expected_at = expected.lower_bound(offset);
      ASSERT_EQ(at == map.end(), expected_at == expected.end());
      if (expected_at == expected.end()) continue;
      ASSERT_EQ(at->first, expected_at->first);
      const auto next = map.erase(at);
      const auto expected_next = expected.erase(expected_at);
      ASSERT_EQ(next == map.end(), expected_next == expected.end());
      if (expected_next != expected.end()) {
        ASSERT_EQ(next->first, expected_next->first);
      }
    }
    const auto behind = map.upper_bound(offset);
    const auto expected_behind = expected.upper_bound(offset);
    ASSERT_EQ(behind == map.end(), expected_behind == expected.end());
    if (expected_behind != expected.end()) {
      ASSERT_EQ(behind->second, expected_behind->second);
    }
    if (n % 1'000 == 0) expect_same(map, expected);
    if (HasFatalFailure()) FAIL() << "after " << n;
  }
}

TEST(OffsetMap, AnEntryMovesInItsPlace) {
  OffsetMap<int> map;
  for (int i = 0; i < 1'000; ++i) map.emplace(10 * i, i);
  for (auto it = map.begin(); it != map.end(); ++it) map.set_offset(it, it->first + 5);
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_EQ(map.lower_bound(10 * i + 5)->second, i);
    ASSERT_EQ(map.upper_bound(10 * i)->second, i);
  }
  map.erase(5);
  EXPECT_EQ(map.begin()->second, 1);
}

}  // namespace
}  // namespace ebb
