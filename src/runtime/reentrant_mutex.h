// A mutex that the thread that has it may lock again. An op's function calls its device all the time, and
// then that costs a comparison: a std::recursive_mutex costs as much as for the first time.
#pragma once

#include <atomic>
#include <mutex>

namespace ebb {

class ReentrantMutex {
 public:
  void lock() {
    if (enters_again()) return;
    mutex_.lock();
    owner_.store(__builtin_thread_pointer(), std::memory_order_relaxed);
  }
  bool try_lock() {
    if (enters_again()) return true;
    if (!mutex_.try_lock()) return false;
    owner_.store(__builtin_thread_pointer(), std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    if (again_ > 0) {
      --again_;
      return;
    }
    owner_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
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

  std::mutex mutex_;
  std::atomic<void*> owner_ = nullptr;
  int again_ = 0;  // times that its owner locked it beyond the first
};

}  // namespace ebb
