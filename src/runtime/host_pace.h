// Does the device wait for its host, and how long does the host take for an op? Where it does, running an op
// again costs the host's time, however short the op is on the device, and so does starting a copy
// (docs/notes/planned-mode.md).
#pragma once

#include "runtime/recent_times.h"

namespace ebb {

class HostPace {
 public:
  // An op was issued and its function took the host so long. `dry`: the device had nothing left to do.
  void add(bool dry, Nanoseconds host_time) {
    const std::size_t of = std::min(++ops_, RecentTimes::kMost);
    dry_share_ += ((dry ? 1.0 : 0.0) - dry_share_) / static_cast<double>(of);
    if (dry) times_.add(host_time);
  }

  // Often enough that what the host does makes the step longer.
  bool device_waits() const { return dry_share_ >= kOften; }

  // The median host time of an op that the device waited for; 0 if it seldom waits.
  Nanoseconds shortest_replay() const { return device_waits() ? times_.median() : 0; }

 private:
  static constexpr double kOften = 0.25;
  std::size_t ops_ = 0;
  double dry_share_ = 0;
  RecentTimes times_;
};

}  // namespace ebb
