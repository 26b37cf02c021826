// Are op times under a plan those that the plan was made for? Before there is a plan blocks move on demand,
// which keeps the host busy; where it is late, the events around an op measure the host too, and a plan that
// is made from such times believes in a longer step than there is, with more time to copy
// (docs/notes/planned-mode.md).
#pragma once

#include "runtime/op_times.h"
#include "runtime/prepared_plan.h"
#include "runtime/timed_step.h"

namespace ebb {

// All ops together: a thirtieth more or less is no difference.
bool are_alike(Nanoseconds a, Nanoseconds b);

// How long ops took under a plan.
struct SeenTimes {
  OpTimes ops = {};      // the device
  OpTimes host = {};     // that issued them
  Nanoseconds step = 0;  // a whole iteration in which ops were not timed; 0: not known
};

// The machine as the program has it: compute is slowed down by copies as its ops are, and the host as far ahead
// of them as a driver's queue lets it be.
Machine machine_for(const Program& program, Machine machine);

// The program with its op times as they were seen, on a machine whose host takes what it was seen to take.
TimedStep as_seen(const Program& program, const SeenTimes& seen, const Machine& machine);

// Do the ops of the step, and the host that issues them, take what they took when the plan was made, for
// `program`?
bool is_made_for(const PreparedPlan& plan, const Program& program, const TimedStep& step);

// The step with op times longer or shorter, or the host's time for an op shorter, so that the plan takes as
// long as it was measured: what lies between ops is in it, and what timing them cost is not. What is changed
// is what bounds the step, and nothing if that is the plan's copies; to half at the least and twice at the
// most. A host is not made slower: a plan that copies too much, because it was made for a slower host, would
// only prove itself right. REQUIRES: the plan was made for this program, whatever its times; measured > 0.
TimedStep calibrated(TimedStep step, const PreparedPlan& plan, Nanoseconds measured);

// What was seen while the plan was followed, which was made for `program`: calibrated, if a whole step of it
// was measured.
TimedStep seen_under(const PreparedPlan& plan, const Program& program, const SeenTimes& seen,
                     const Machine& machine);

// Is the plan, made for `program`, made for these times too, and does it take with them what was predicted?
// Links are not in the times, but in what it takes.
bool still_holds(const PreparedPlan& plan, const Program& program, const TimedStep& step);

// What the plan takes, addresses included, if ops take the program's times.
Nanoseconds step_of(const PreparedPlan& plan, const Program& program, const Machine& machine);

}  // namespace ebb
