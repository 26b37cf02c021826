// Does the device wait for its host, and how long does the host take for an op? Where it does, an op costs
// the host's time, however short it is on the device (docs/notes/planned-mode.md).
#pragma once

#include "runtime/recent_times.h"

namespace ebb {

class HostPace {
 public:
  // An op was issued so long after the one before it, and its function took the host so long. `dry`: the
  // device had nothing left to do.
  void add(bool dry, Nanoseconds since_last, Nanoseconds in_function) {
    const std::size_t of = std::min(++ops_, RecentTimes::kMost);
    dry_share_ += ((dry ? 1.0 : 0.0) - dry_share_) / static_cast<double>(of);
    if (!dry) return;
    whole_.add(since_last);
    functions_.add(in_function);
  }

  // Often enough that what the host does makes the step longer.
  bool device_waits() const { return dry_share_ >= kOften; }

  // Medians of ops that the device waited for; 0 if it seldom waits. One that is run again costs the host its
  // function, not what the program does in between.
  Nanoseconds op_issue() const { return device_waits() ? whole_.median() : 0; }
  Nanoseconds replay_issue() const { return device_waits() ? functions_.median() : 0; }

 private:
  static constexpr double kOften = 0.25;
  std::size_t ops_ = 0;
  double dry_share_ = 0;
  RecentTimes whole_;
  RecentTimes functions_;
};

}  // namespace ebb
