// Are op times under a plan those that the plan was made for? Before there is a plan blocks move on demand,
// which keeps the host busy; where it is late, the events around an op measure the host too, and a plan that
// is made from such times believes in a longer step than there is, with more time to copy
// (docs/notes/planned-mode.md).
#pragma once

#include "machine/machine.h"
#include "runtime/op_times.h"
#include "runtime/prepared_plan.h"

namespace ebb {

// All ops together: a thirtieth more or less is no difference.
bool are_alike(Nanoseconds a, Nanoseconds b);

// How long ops took under a plan.
struct SeenTimes {
  OpTimes ops = {};
  Nanoseconds host = 0;  // the host takes at least so long to issue an iteration, if the device waits for it
  Nanoseconds step = 0;  // a whole iteration in which ops were not timed; 0: not known

  // All ops together; those that were not timed take as long as they do in the program.
  Nanoseconds total(const Program& program) const;
};

// The program with its op times as they were seen. A plan whose copies take longest hides how long the host
// takes, so that together they are no shorter than that.
Program with_times(const Program& program, const SeenTimes& seen);

// The program with its op times shorter, all by the same share, or the shortest of them longer, so that the
// plan takes `step` as it was measured: what lies between ops is in it, and what timing them cost is not.
// Half as long at the least, twice as long at the most; and as they are where the plan's copies take longest,
// since then its step says nothing about ops. REQUIRES: the plan was made for this program, whatever its
// times; step > 0.
Program calibrated(const Program& program, const PreparedPlan& plan, const Machine& machine,
                   Nanoseconds step);

// What the plan takes, addresses included, if ops take the program's times.
Nanoseconds step_of(const PreparedPlan& plan, const Program& program, const Machine& machine);

}  // namespace ebb
