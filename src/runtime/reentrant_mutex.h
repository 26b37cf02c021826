// A mutex that the thread that has it may lock again. An op's function calls its device all the time, and
// then that costs a comparison: a std::recursive_mutex costs as much as for the first time.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace ebb {

class ReentrantMutex {
 public:
  void lock() {
    const std::thread::id me = std::this_thread::get_id();
    // Nobody else writes this thread's id, so that no order is needed to see it.
    if (owner_.load(std::memory_order_relaxed) != me) {
      mutex_.lock();
      owner_.store(me, std::memory_order_relaxed);
    }
    ++depth_;
  }
  void unlock() {
    if (--depth_ > 0) return;
    owner_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
  int depth_ = 0;  // by the owner
};

}  // namespace ebb
