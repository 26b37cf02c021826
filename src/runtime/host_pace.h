// Does the device wait for its host, and how long does the host take for an op? Where it does, running an op
// again costs the host's time, however short the op is on the device (docs/notes/planned-mode.md).
#pragma once

#include <algorithm>
#include <array>

#include "trace/quantities.h"

namespace ebb {

class HostPace {
 public:
  // An op was issued and the host needed so long for all of it. `dry`: the device had nothing left to do.
  void add(bool dry, Nanoseconds host_time) {
    dry_share_ += ((dry ? 1.0 : 0.0) - dry_share_) / static_cast<double>(std::min<std::size_t>(++ops_, kOps));
    if (dry) times_[times_seen_++ % kOps] = host_time;
  }

  // The median host time of an op that the device waited for; 0 if it seldom waits.
  Nanoseconds shortest_replay() const {
    const std::size_t count = std::min(times_seen_, kOps);
    if (dry_share_ < kOften || count == 0) return 0;
    std::array<Nanoseconds, kOps> sorted = times_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
    return *middle;
  }

 private:
  static constexpr std::size_t kOps = 2048;  // that count, more or less
  static constexpr double kOften = 0.25;
  std::size_t ops_ = 0;
  double dry_share_ = 0;
  std::array<Nanoseconds, kOps> times_ = {};
  std::size_t times_seen_ = 0;
};

}  // namespace ebb
