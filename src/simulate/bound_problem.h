// The facts every bound is built from: which block may be absent when, and what an absence costs at least.
#pragma once

#include <vector>

#include "plan/gaps.h"
#include "simulate/bounds.h"

namespace ebb {

// One gap with an op in it.
struct Absence {
  GapId gap = 0;
  BlockId block = 0;
  Bytes bytes = 0;
  OpIndex from = 0;  // absent at most at the ops strictly between, unrolled
  OpIndex to = 0;
  bool returns = true;         // false: trailing, nobody needs it again
  bool droppable = false;      // may be recomputed, or for a trailing one forgotten
  bool has_host_copy = false;  // never written in the iteration: leaves without a copy
  OpIndex last_write = 0;  // of the content, relative to `from`'s iteration; the host copy can begin after it
  // Ops that run again, each at least once, at a position in (from + 1, to], if the gap is recomputed and its
  // absence anywhere in it frees memory. Only writers whose result cannot still be there, or takes as much
  // room as the absence frees: a lower bound on the replay.
  std::vector<OpIndex> reruns = {};

  bool covers(OpIndex unrolled) const { return from < unrolled && unrolled < to; }
};

struct BoundProblem {
  BoundProblem(const Program& program, const Gaps& gaps, const Machine& machine, Bytes limit,
               const BoundOptions& options);

  const Program& program;
  const Machine& machine;
  BoundOptions options;
  Bytes limit = 0;
  std::vector<Nanoseconds> op_time;
  Nanoseconds compute_time = 0;  // Σ op_time
  Nanoseconds plain_time = 0;    // with issue times
  std::vector<Bytes> excess;     // per op: what it needs with everything present, less the limit
  std::vector<Absence> absences;
};

// A step that takes whole nanoseconds takes at least this many if it takes `nanoseconds`, up to rounding in
// the solver.
Nanoseconds round_up(const BoundProblem& problem, double nanoseconds);

// Adds `bytes` at each op the absence covers, folded into one iteration.
void add_over(const Absence& absence, Bytes bytes, std::vector<Bytes>& per_op);

Bound compute_bound(const BoundProblem& problem);
Bound transfer_bound(const BoundProblem& problem);
Bound cover_bound(const BoundProblem& problem);
Bound fluid_bound(const BoundProblem& problem, bool may_recompute);

}  // namespace ebb
