// A mutex that the thread that has it may lock again. An op's function calls its device all the time, and
// then that costs a comparison: a std::recursive_mutex costs as much as for the first time. Where nobody else
// wants it, the first time costs one atomic instruction and no call.
#pragma once

#include <atomic>
#include <mutex>  // std::lock_guard, for those who lock it

namespace ebb {

class ReentrantMutex {
 public:
  void lock() {
    if (enters_again()) return;
    if (!take_free()) wait_and_take();
    owner_.store(__builtin_thread_pointer(), std::memory_order_relaxed);
  }
  bool try_lock() {
    if (enters_again()) return true;
    if (!take_free()) return false;
    owner_.store(__builtin_thread_pointer(), std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    if (again_ > 0) {
      --again_;
      return;
    }
    owner_.store(nullptr, std::memory_order_relaxed);
    if (state_.exchange(kFree) == kWanted) state_.notify_one();
  }
  // In the child of a fork, whose thread looks like the parent's that locked it: it is nobody's any more, and
  // stays locked for ever.
  void abandon() { owner_.store(nullptr, std::memory_order_relaxed); }

 private:
  bool enters_again() {
    // Nobody else writes this thread's address, so that no order is needed to see it.
    if (owner_.load(std::memory_order_relaxed) != __builtin_thread_pointer()) return false;
    ++again_;
    return true;
  }

  bool take_free() {
    int state = kFree;
    return state_.compare_exchange_strong(state, kTaken);
  }
  // Whoever had to wait cannot know whether it was the only one: it leaves the lock as wanted.
  void wait_and_take() {
    while (state_.exchange(kWanted) != kFree) state_.wait(kWanted);
  }

  // Taken, and somebody may wait for it: kWanted.
  enum : int { kFree, kTaken, kWanted };
  std::atomic<int> state_ = kFree;
  std::atomic<void*> owner_ = nullptr;
  int again_ = 0;  // times that its owner locked it beyond the first
};

}  // namespace ebb
