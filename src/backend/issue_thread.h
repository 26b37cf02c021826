// A thread that makes calls for another one, in order. A driver takes microseconds for each; whoever hands
// them over goes on at once.
//
//   IssueThread<Call> issuer;
//   const Ticket copy = issuer.push(call);    // Call: a function object that is plain data
//   …
//   issuer.wait_for(copy);                    // before somebody relies on the call having been made
//
// A call that throws breaks it: what was to follow may rely on it, so every use from then on throws the same.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace ebb {

// How many calls were handed over up to and with this one.
using Ticket = std::uint64_t;

template <typename Call>
class IssueThread {
 public:
  // `begin` runs first in the thread.
  explicit IssueThread(std::function<void()> begin = {}) : thread_([this, begin] { run(begin); }) {}
  // Makes the calls that are left.
  ~IssueThread() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    pushed_some_.notify_one();
    thread_.join();
  }
  IssueThread(const IssueThread&) = delete;
  IssueThread& operator=(const IssueThread&) = delete;

  // Waits only while kMost calls are left to be made. REQUIRES, as all below: one caller at a time.
  Ticket push(const Call& call) {
    check();
    if (last_ >= kMost) wait_until_made(last_ + 1 - kMost);
    calls_[++last_ % kMost] = call;
    pushed_ = last_;
    if (sleeps_) {
      const std::lock_guard lock(mutex_);
      pushed_some_.notify_one();
    }
    return last_;
  }
  bool made(Ticket ticket) const { return made_.load(std::memory_order_acquire) >= ticket; }
  void wait_for(Ticket ticket) {
    wait_until_made(ticket);
    check();
  }
  Ticket last() const { return last_; }
  // Throws what a call threw, if one did.
  void check() const {
    if (broken_.load(std::memory_order_acquire)) std::rethrow_exception(failure_);
  }

 private:
  static constexpr Ticket kMost = 1024;
  // Calls come in swarms, and to be woken costs the one who wakes. To stay awake for longer would slow down
  // whoever shares a core with the thread.
  static constexpr std::chrono::microseconds kAwake{50};
  static constexpr int kQuickLooks = 64;  // then others may have the processor for a moment

  static void pause() {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
  }

  void wait_until_made(Ticket ticket) const {
    for (int looks = 0; !made(ticket); pause())
      if (++looks % kQuickLooks == 0) std::this_thread::yield();
  }

  // false: there will be none.
  bool wait_for_call(Ticket ticket) {
    const auto begin = std::chrono::steady_clock::now();
    for (int looks = 0; pushed_ < ticket;) {
      pause();
      if (++looks % kQuickLooks != 0 || std::chrono::steady_clock::now() - begin < kAwake) continue;
      std::unique_lock lock(mutex_);
      sleeps_ = true;
      pushed_some_.wait(lock, [&] { return pushed_ >= ticket || closing_; });
      sleeps_ = false;
      return pushed_ >= ticket;
    }
    return true;
  }

  void run(const std::function<void()>& begin) {
    const auto guarded = [&](const auto& f) {
      try {
        f();
      } catch (...) {
        if (broken_) return;
        failure_ = std::current_exception();
        broken_.store(true, std::memory_order_release);
      }
    };
    if (begin) guarded(begin);
    for (Ticket next = 1; wait_for_call(next); ++next) {
      guarded(calls_[next % kMost]);
      made_.store(next, std::memory_order_release);
    }
  }

  std::array<Call, kMost> calls_ = {};
  Ticket last_ = 0;  // the caller's
  alignas(64) std::atomic<Ticket> pushed_ = 0;
  std::atomic<bool> sleeps_ = false;
  alignas(64) std::atomic<Ticket> made_ = 0;
  std::atomic<bool> broken_ = false;
  std::exception_ptr failure_;
  std::mutex mutex_;  // of falling asleep
  std::condition_variable pushed_some_;
  bool closing_ = false;
  std::thread thread_;  // last: it runs on all of the above
};

}  // namespace ebb
