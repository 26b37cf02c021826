// From a plan that keeps a limit by load to one that keeps it by address: offsets for every residency, so
// that the whole arena, fragmentation included, stays within the limit. See docs/notes/packing.md.
//
// First the plan is packed as it is scheduled, and made again for a little less until it fits, or for all
// that it is too large by once some of the time is spent. If that takes too much off, copies are retimed, out
// earlier and in later, until what is resident leaves room to pack with, and the fastest is taken; where
// nothing fits, once more with more effort, and then, if that is wanted, for much less. Deterministic but for
// the deadline.
#pragma once

#include <functional>
#include <optional>

#include "layout/packing.h"
#include "layout/residencies.h"
#include "machine/machine.h"
#include "simulate/replay.h"
#include "simulate/simulator.h"

namespace ebb::layout {

struct FitProblem {
  const Program& program;
  const Gaps& gaps;
  const Machine& machine;
  Bytes limit = 0;  // of everything: unmanaged bytes, the packed arena, and what is reserved above it
};

// A plan for a smaller limit, or nothing if there is none.
using MakePlan = std::function<std::optional<Plan>(Bytes limit)>;

enum class Effort : char {
  usual,
  last,  // only what comes where the usual failed
  both,
};

struct FitOptions {
  Bytes alignment = kDefaultAlignment;
  Bytes reserve = 0;             // kept free above the footprint for requests that no plan knows
  std::int64_t budget = 40'000;  // steps of each attempt to pack
  double deadline_seconds = 20;  // then no new attempt begins, and each takes a part of it; 0: never
  MakePlan make_plan = nullptr;  // nullptr: the plan is not made again
  Effort effort = Effort::both;
  bool at_any_rate = false;  // where nothing fits: a few plans for much less, beyond the deadline
  Bytes excess = 0;          // known from an earlier call: the plan as it is scheduled is so much too large
  std::function<double()> seconds_now = {};  // a clock; empty: the steady one
};

// What was done to the plan, from least to most. Each includes those before it.
enum class Retiming : char {
  none,           // packed as scheduled
  by_address,     // copies-out end when they end: whoever takes their addresses waits for them
  out_at_once,    // blocks leave as soon as they may
  half_as_early,  // they return half as long before they are needed
  when_needed,    // they return when they are needed, or before that where their addresses are free
};

struct FittedPlan {
  bool fits = false;  // if not, only `attempts`, `excess` and the `load` of the last one are meaningful
  Retiming retiming = Retiming::none;
  Bytes planned_for = 0;     // the limit the plan was made for, less than the problem's if it was made again
  int attempts = 0;          // at packing
  Bytes excess = 0;          // by which the given plan was too large as it was scheduled, if it was packed
  LoweredPlan lowered = {};  // lowered.plan is the plan
  StepResult step = {};
  Timeline timeline = {};
  Schedule schedule = {};
  ArenaProblem arena = {};    // of the schedule
  Layout layout = {};         // of the arena
  AddressWaits waits = {};    // of the layout
  Nanoseconds step_time = 0;  // the schedule replayed with these waits
  Bytes footprint = 0;        // highest address in use, and unmanaged bytes
  Bytes load = 0;             // peak of what is resident, rounded to the alignment, and unmanaged bytes
};

// REQUIRES: `plan` is one that `lower` and the simulator accept within the limit; if not, it is made again
// for less, or does not fit.
FittedPlan fit_plan(const FitProblem& problem, const Plan& plan, const FitOptions& options = {});

}  // namespace ebb::layout
