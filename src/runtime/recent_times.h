// The median of the last times that were seen: what happens once, as a first allocation does, does not count.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>

#include "trace/quantities.h"

namespace ebb {

class RecentTimes {
 public:
  static constexpr std::size_t kMost = 2048;

  void add(Nanoseconds time) { times_[seen_++ % kMost] = time; }

  // 0 if there were none.
  Nanoseconds median() const {
    const std::size_t count = std::min(seen_, kMost);
    if (count == 0) return 0;
    std::array<Nanoseconds, kMost> sorted = times_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
    return *middle;
  }

 private:
  std::array<Nanoseconds, kMost> times_ = {};
  std::size_t seen_ = 0;
};

// Adds the calling thread's time between its beginning and its end; nullptr: measures nothing.
class TimeOfScope {
 public:
  using Clock = std::chrono::steady_clock;
  explicit TimeOfScope(RecentTimes* times) : times_(times) {
    if (times_) begin_ = Clock::now();
  }
  ~TimeOfScope() {
    if (times_) times_->add((Clock::now() - begin_) / std::chrono::nanoseconds(1));
  }
  TimeOfScope(const TimeOfScope&) = delete;
  TimeOfScope& operator=(const TimeOfScope&) = delete;

 private:
  RecentTimes* times_;
  Clock::time_point begin_;
};

}  // namespace ebb
