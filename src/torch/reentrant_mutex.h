// A mutex that its owner may lock again, which then takes a comparison and no call.
#pragma once

#include <atomic>
#include <mutex>

namespace ebb::torch_adapter {

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
    if (owner_.load(std::memory_order_relaxed) != __builtin_thread_pointer()) return false;
    ++again_;
    return true;
  }

  std::mutex mutex_;
  std::atomic<void*> owner_ = nullptr;
  int again_ = 0;  // times that its owner locked it beyond the first
};

}  // namespace ebb::torch_adapter
