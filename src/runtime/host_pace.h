// How long does the host take for an op? Where it is late, that is what an op costs, however short it is on
// the device (docs/notes/planned-mode.md).
#pragma once

#include "runtime/recent_times.h"

namespace ebb {

class HostPace {
 public:
  // An op was issued so long after the one before it, without what the Device took; its function took the
  // host so long, and the Device beside it. None of these may contain time in which the host waited for the
  // device.
  void add(Nanoseconds since_last, Nanoseconds in_function, Nanoseconds in_device) {
    whole_.add(since_last);
    functions_.add(in_function);
    in_device_.add(in_device);
  }

  // So many ops of a plan's replays were issued again, in all that time; the same holds for it.
  void add_replays(std::int64_t count, Nanoseconds time) {
    if (count > 0) replays_.add(time / count);
  }

  void clear() {
    whole_.clear();
    functions_.clear();
    in_device_.clear();
    replays_.clear();
  }

  // Medians: too short rather than too long, since a plan that trusts in a slow host copies too much. One
  // that is run again costs the host what that was seen to take; until it was, its function, not what the
  // program does in between.
  Nanoseconds op_issue() const { return whole_.median(); }
  Nanoseconds replay_issue() const { return (replays_.empty() ? functions_ : replays_).median(); }
  Nanoseconds follow_issue() const { return in_device_.median(); }

 private:
  RecentTimes whole_;
  RecentTimes functions_;
  RecentTimes in_device_;
  RecentTimes replays_{1'024};  // few: once captured they take less (docs/notes/pytorch-adapter.md)
};

}  // namespace ebb
