#include "torch/repeat_book.h"

#include <gtest/gtest.h>

namespace ebb::torch_adapter {
namespace {

// How often each value was found, of `steps` rounds of keys 0 … repeated - 1 and as many new ones as `fresh`.
int times_found(int steps, int repeated, int fresh, std::size_t* size = nullptr) {
  RepeatBook<int> book;
  std::uint64_t next_fresh = 1'000'000;
  const auto look_up = [&](std::uint64_t key) -> int& {
    book.blank_key().push_back(key);
    return book.find();
  };
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < repeated; ++i) ++look_up(static_cast<std::uint64_t>(i));
    for (int i = 0; i < fresh; ++i) ++look_up(next_fresh++);
  }
  int least = steps;
  for (int i = 0; i < repeated; ++i) least = std::min(least, look_up(static_cast<std::uint64_t>(i)));
  if (size) *size = book.size();
  return least;
}

TEST(RepeatBook, KnowsWhatItIsToldByTheWholeKey) {
  RepeatBook<int> book;
  book.blank_key() = {1, 2, 3};
  book.find() = 7;
  book.blank_key() = {1, 2};
  EXPECT_EQ(book.find(), 0);
  book.blank_key() = {1, 2, 3};
  EXPECT_EQ(book.find(), 7);
}

// Until the book knows how many there are it may forget one once or twice.
TEST(RepeatBook, WhatComesAgainInEveryStepIsKnown) {
  for (const int repeated : {1, 500, 513, 1025, 3011, 10'000})
    EXPECT_GE(times_found(40, repeated, 0), 38) << repeated;
}

TEST(RepeatBook, WhatNeverComesAgainDoesNotPushItOut) {
  EXPECT_GE(times_found(40, 950, 100), 38);
  EXPECT_GE(times_found(40, 750, 300), 38);
  EXPECT_GE(times_found(40, 2000, 3000), 38);
}

TEST(RepeatBook, WhatNeverComesAgainIsForgotten) {
  std::size_t size = 0;
  times_found(400, 100, 20, &size);
  EXPECT_LT(size, 2000u);
  times_found(100, 100, 5000, &size);
  EXPECT_LT(size, 70'000u);
}

}  // namespace
}  // namespace ebb::torch_adapter
