// The schedule under other durations: the order is kept, only the times change. This is what a runtime does
// that follows it, so predictions and robustness are judged here.
//
// A copy waits for the items it was listed behind, for its engine, and an item for its copies; whoever takes
// memory does so in the listed order and waits for what frees it: all releases listed before it, or, if the
// addresses are known, the previous holders of its own.
#pragma once

#include <span>
#include <vector>

#include "machine/machine.h"
#include "plan/lowered.h"
#include "plan/schedule.h"
#include "simulate/timeline.h"

namespace ebb {

// By command: the commands whose end frees the addresses it takes — the end of a run or replay, the release
// or drop. An index not below the command's own means: in the iteration before.
using AddressWaits = std::vector<std::vector<std::int32_t>>;

struct ReplayOptions {
  std::span<const Nanoseconds> op_times = {};  // by op; empty: the machine's
  const AddressWaits* waits = nullptr;         // nullptr: all releases listed before
  int iterations = 4;                          // the last one is measured
};

// The time of a late iteration. REQUIRES: a schedule that validate() accepts.
Nanoseconds replay(const Program& program, const Gaps& gaps, const Machine& machine,
                   const LoweredPlan& lowered, const Schedule& schedule, const ReplayOptions& options = {});

}  // namespace ebb
