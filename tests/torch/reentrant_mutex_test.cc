#include "torch/reentrant_mutex.h"

#include <gtest/gtest.h>

#include <thread>

namespace ebb::torch_adapter {
namespace {

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
}  // namespace ebb::torch_adapter
