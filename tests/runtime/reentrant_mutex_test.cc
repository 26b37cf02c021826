#include "runtime/reentrant_mutex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace ebb {
namespace {

TEST(ReentrantMutex, ItsOwnerLocksItAgainAndNobodyElseBeforeItIsDone) {
  ReentrantMutex mutex;
  using Lock = std::lock_guard<ReentrantMutex>;
  int inside = 0, most_inside = 0, rounds = 0;  // guarded by the mutex
  const auto work = [&] {
    for (int i = 0; i < 2'000; ++i) {
      const Lock outer(mutex);
      most_inside = std::max(most_inside, ++inside);
      {
        const Lock inner(mutex);
        ++rounds;
      }
      --inside;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(rounds, 8'000);
  EXPECT_EQ(most_inside, 1);
}

TEST(ReentrantMutex, AllWhoSleepForItAreWokenOneAfterTheOther) {
  for (int round = 0; round < 20; ++round) {
    ReentrantMutex mutex;
    int got = 0;  // guarded by the mutex
    mutex.lock();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        const std::lock_guard<ReentrantMutex> lock(mutex);
        ++got;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(got, 0);
    mutex.unlock();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(got, 4);
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
  }
}

bool another_thread_gets(ReentrantMutex& mutex) {
  bool got = false;
  std::thread([&] {
    got = mutex.try_lock();
    if (got) mutex.unlock();
  }).join();
  return got;
}

TEST(ReentrantMutex, IsFreeWhenItsOwnerUnlockedItAsOftenAsItLockedIt) {
  ReentrantMutex mutex;
  mutex.lock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.lock();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(another_thread_gets(mutex));
    mutex.unlock();
  }
  EXPECT_TRUE(another_thread_gets(mutex));
}

TEST(ReentrantMutex, AbandonedIsLockedForEverybody) {
  ReentrantMutex mutex;
  mutex.lock();
  mutex.abandon();
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_FALSE(another_thread_gets(mutex));
}

}  // namespace
}  // namespace ebb
