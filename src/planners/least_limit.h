// The smallest limit that a planner can keep.
#pragma once

#include "planners/judge.h"

namespace ebb {

struct LeastLimit {
  Bytes limit = 0;
  bool proved = false;  // one op alone needs as much: no planner can keep less
  JudgedPlan plan;      // at that limit; infeasible if the planner keeps no limit at all
};

// By bisection to a thousandth: what can be kept is taken to be kept at every larger limit. Our own search
// gets its starts only on the way and its budget at the end.
LeastLimit find_least_limit(const Program& program, const Gaps& gaps, const Machine& machine,
                            const Planner& planner, const PlannerOptions& options);

}  // namespace ebb
