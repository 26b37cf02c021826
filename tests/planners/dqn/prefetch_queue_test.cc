#include "planners/dqn/prefetch_queue.h"

#include <gtest/gtest.h>

namespace ebb::dqn {
namespace {

TEST(DqnPrefetchQueue, ACopyThatEndsInTimeCostsNothing) {
  PrefetchQueue queue;
  EXPECT_EQ(queue.add(100, 200, 100), 0);
}

TEST(DqnPrefetchQueue, ALateCopyCostsWhatIsMissing) {
  PrefetchQueue queue;
  EXPECT_EQ(queue.add(150, 200, 100), 50);
}

TEST(DqnPrefetchQueue, CopiesRunInTheOrderOfNeedWhateverTheOrderTheyAreAddedIn) {
  PrefetchQueue one, other;
  one.add(0, 300, 100);
  one.add(0, 100, 100);
  one.add(0, 200, 150);
  other.add(0, 100, 100);
  other.add(0, 200, 150);
  other.add(0, 300, 100);
  EXPECT_EQ(one.waiting(), 50);
  EXPECT_EQ(other.waiting(), one.waiting());
}

TEST(DqnPrefetchQueue, AWaitGivesLaterCopiesTime) {
  PrefetchQueue queue;
  EXPECT_EQ(queue.add(100, 100, 80), 80);
  EXPECT_EQ(queue.add(100, 200, 100), 0) << "due at 280, when the first has ended at 180";
}

TEST(DqnPrefetchQueue, ClearForgetsAll) {
  PrefetchQueue queue;
  queue.add(0, 0, 100);
  queue.clear();
  EXPECT_EQ(queue.waiting(), 0);
  EXPECT_EQ(queue.add(0, 100, 100), 0);
}

}  // namespace
}  // namespace ebb::dqn
