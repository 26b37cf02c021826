#include "torch/pointer_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace ebb::torch_adapter {
namespace {

TEST(PointerMap, FindsWhatWasSetUntilItIsTaken) {
  PointerMap<int> map;
  int key = 0, value = 7;
  EXPECT_EQ(map.find(&key), nullptr);
  map.set(&key, &value);
  EXPECT_EQ(map.find(&key), &value);
  EXPECT_EQ(map.take(&key), &value);
  EXPECT_EQ(map.find(&key), nullptr);
  EXPECT_EQ(map.take(&key), nullptr);
}

TEST(PointerMap, AnswersLikeAMapWhateverComesAndGoes) {
  std::mt19937 random(1);
  std::vector<int> values(400);
  PointerMap<int> map;
  std::map<const void*, int*> expected;
  for (int i = 0; i < 20'000; ++i) {
    // Few keys, as far apart as blocks are: runs of slots form, and are taken apart again.
    const void* key = reinterpret_cast<const void*>(512 * (1 + std::uintptr_t{random() % 400}));
    int* value = &values[random() % values.size()];
    if (random() % 2 == 0) {
      map.set(key, value);
      expected[key] = value;
    } else {
      const auto it = expected.find(key);
      ASSERT_EQ(map.take(key), it == expected.end() ? nullptr : it->second);
      if (it != expected.end()) expected.erase(it);
    }
  }
  for (const auto& [key, value] : expected) EXPECT_EQ(map.find(key), value);
}

}  // namespace
}  // namespace ebb::torch_adapter
