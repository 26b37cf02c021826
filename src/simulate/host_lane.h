// The host that issues items, where the device waits for it (docs/notes/simulation.md, Host): when the next
// item is issued. It takes its time for every item and for every copy, and runs ahead of compute, but not
// further than it can.
#pragma once

#include <algorithm>
#include <span>

#include "machine/machine.h"

namespace ebb {

// What is issued in an iteration, and how long compute takes for it.
struct IssuedWork {
  std::int64_t ops = 0;
  std::int64_t replays = 0;
  std::int64_t copies = 0;
  Nanoseconds compute = 0;
};

class HostLane {
 public:
  enum class Follows : char { plan, nothing };
  explicit HostLane(const Machine& machine, Follows follows = Follows::plan)
      : op_(machine.op_issue + (follows == Follows::plan ? machine.follow_issue : 0)),
        replay_(machine.replay_issue),
        copy_(machine.copy_issue),
        lead_(machine.host_lead) {}

  // At time 0. A host that is faster than compute begins as far ahead as it can be; one that is slower is not
  // ahead.
  void start(const IssuedWork& each) {
    const Nanoseconds host = each.ops * op_ + each.replays * replay_ + each.copies * copy_;
    begins_ = host > each.compute ? 0 : -lead_ - op_;
  }
  bool takes_time() const { return op_ > 0 || replay_ > 0 || copy_ > 0; }
  // The next item, an op or one again, cannot start before this.
  Nanoseconds issues_at(bool replay) const { return begins_ + (replay ? replay_ : op_); }
  void item_started(bool replay, Nanoseconds now) { begins_ = std::max(issues_at(replay), now - lead_); }
  void copy_started(Nanoseconds now) { begins_ = now + behind(now) + copy_; }
  // What of it matters from now on: further ahead than it can be is no different.
  Nanoseconds behind(Nanoseconds now) const {
    return std::max(begins_ - now, -lead_ - std::max(op_, replay_));
  }

 private:
  Nanoseconds op_, replay_, copy_, lead_;
  Nanoseconds begins_ = 0;  // to issue the next item
};

// The ops alone, one after the other, each not before it is issued, and no plan to follow: a late iteration.
// `op_times`, by op; without: the machine's.
inline Nanoseconds plain_step(const Program& program, const Machine& machine,
                              std::span<const Nanoseconds> op_times = {}) {
  HostLane host(machine, HostLane::Follows::nothing);
  const auto time_of = [&](OpIndex i) {
    return op_times.empty() ? machine.op_time(program.op(i)) : op_times[static_cast<std::size_t>(i)];
  };
  Nanoseconds compute = 0;
  for (OpIndex i = 0; i < program.op_count(); ++i) compute += time_of(i);
  host.start({.ops = program.op_count(), .compute = compute});
  Nanoseconds now = 0, begin = 0;
  for (int iteration = 0; iteration < (host.takes_time() ? 4 : 1); ++iteration) {
    begin = now;
    for (OpIndex i = 0; i < program.op_count(); ++i) {
      now = std::max({now, begin + program.op(i).issue, host.issues_at(false)});
      host.item_started(false, now);
      now += time_of(i);
    }
  }
  return now - begin;
}

}  // namespace ebb
