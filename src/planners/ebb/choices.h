// What may be decided: the gaps whose absence helps under a limit, and what each way of being absent costs by
// itself, before anything competes for the link or for room.
#pragma once

#include <vector>

#include "planners/ebb/outliving.h"
#include "planners/ebb/untimed.h"

namespace ebb {

struct Choice {
  GapId gap = 0;
  OpIndex first = 0;  // the ops at which the block can be absent: [first, last], unrolled
  OpIndex last = 0;
  Bytes bytes = 0;
  bool can_swap = false;
  bool can_recompute = false;
  Nanoseconds remake = 0;  // one run of the ops that make the content again, if their inputs are there
  Nanoseconds copies = 0;  // on the link, both ways
  Nanoseconds issue = 0;   // what compute waits for while the host starts them
  Nanoseconds span = 0;    // compute between its accesses: what copies can hide behind
  bool operator==(const Choice&) const = default;

  bool covers(OpIndex op, OpIndex ops) const {
    return (first <= op && op <= last) || (first <= op + ops && op + ops <= last);
  }
};

// In the order of the gaps; only those with an op in them and an action that is allowed. `outliving`: these
// are kept for replays.
std::vector<Choice> find_choices(const PlanningProblem& problem, const PlannerOptions& options,
                                 std::span<const OutlivingBlock> outliving = {});

}  // namespace ebb
