// What the chain planners share beside the chain itself: asking for more, and saying what the chain knows.
#pragma once

#include "planners/chain/chain_view.h"
#include "planners/planner.h"

namespace ebb {

// Adds the first activations that still stay until they make up for `missing` bytes, at least one. False if
// none stays.
bool offload_more(const Chain& chain, Bytes missing, OffloadSet& offloaded);

// Findings: makespan and lower bound in the chain, and the step's time against that bound.
void report_chain(const ChainView& view, const PlanningProblem& problem, const OffloadSet& offloaded,
                  Nanoseconds step_time, PlanningResult& result);

}  // namespace ebb
