#include "runtime/few.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "runtime/flat_set.h"

namespace ebb {
namespace {

using Numbers = Few<int, 3>;
using List = std::vector<int>;

TEST(Few, HoldsWhatFitsAndWhatDoesNot) {
  Numbers numbers;
  List expected;
  for (int k = 0; k < 20; ++k) {
    numbers.push_back(k);
    expected.push_back(k);
    ASSERT_EQ(numbers, expected);
  }
  EXPECT_EQ(numbers[7], 7);
  numbers.clear();
  EXPECT_TRUE(numbers.empty());
  numbers.append(List{4, 5});
  numbers.append(List{6});
  EXPECT_EQ(numbers, (List{4, 5, 6}));
}

TEST(Few, ACopyIsItsOwn) {
  for (const List& values : {List{1, 2}, List{1, 2, 3, 4, 5}}) {
    Numbers original{std::span<const int>(values)};
    Numbers copy = original;
    Numbers assigned = {9, 9, 9, 9};
    assigned = original;
    original[0] = 100;
    original.push_back(6);
    EXPECT_EQ(copy, values);
    EXPECT_EQ(assigned, values);
  }
}

TEST(Few, WhatIsMovedFromIsEmptyAndUsable) {
  for (const List& values : {List{1, 2}, List{1, 2, 3, 4, 5}}) {
    Numbers from{std::span<const int>(values)};
    const Numbers to = std::move(from);
    EXPECT_EQ(to, values);
    EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move): that is the promise
    for (int k = 0; k < 5; ++k) from.push_back(k);
    EXPECT_EQ(from, (List{0, 1, 2, 3, 4}));
    EXPECT_EQ(to, values);
  }
  Numbers few = {1, 2}, many = {1, 2, 3, 4, 5};
  std::swap(few, many);
  EXPECT_EQ(few, (List{1, 2, 3, 4, 5}));
  EXPECT_EQ(many, (List{1, 2}));
}

TEST(FlatSet, IsWhatAListSortedAnewWouldBe) {
  std::mt19937 random(3);
  FlatSet<int, 2> set;
  List expected;
  for (int k = 0; k < 2000; ++k) {
    const int value = static_cast<int>(random() % 12);
    std::erase(expected, value);
    if (random() % 2) {
      set.insert(value);
      expected.push_back(value);
      std::sort(expected.begin(), expected.end());
    } else {
      set.erase(value);
    }
    ASSERT_EQ(List(set.values().begin(), set.values().end()), expected);
    ASSERT_EQ(set.empty(), expected.empty());
  }
}

}  // namespace
}  // namespace ebb
