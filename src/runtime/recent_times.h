// The last times that were seen, in the middle: what happens once, as a first allocation does, does not
// count.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "trace/quantities.h"

namespace ebb {

class RecentTimes {
 public:
  // Unless told otherwise, of a few thousand ops, a few times.
  explicit RecentTimes(std::size_t most = 16'384) : most_(most) {}

  void add(Nanoseconds time) {
    if (times_.size() < most_)
      times_.push_back(time);
    else
      times_[next_++ % most_] = time;
  }

  void clear() {
    times_.clear();
    next_ = 0;
  }

  bool empty() const { return times_.empty(); }
  // 0 if there were none.
  Nanoseconds median() const {
    if (times_.empty()) return 0;
    std::vector<Nanoseconds> sorted = times_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }

 private:
  std::size_t most_;
  std::vector<Nanoseconds> times_;
  std::size_t next_ = 0;
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
