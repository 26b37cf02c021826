// Planners that drop results of forward and compute them again: those of [SUB], and DTR.
// docs/notes/recomputation.md has the ideas.
#pragma once

#include <span>

#include "planners/planner.h"

namespace ebb {

// Alg. 3 over the grid of appendix A: the fastest plan that fits.
PlanningResult plan_sublinear(const PlanningProblem& problem, const PlannerOptions& options);
// The same stages, and what takes longest per byte is kept while the limit allows (end of §4.3).
PlanningResult plan_sublinear_cost(const PlanningProblem& problem, const PlannerOptions& options);
// √n stages of equally many places.
PlanningResult plan_checkpoint_sqrt(const PlanningProblem& problem, const PlannerOptions& options);
// §4.4: k results kept in each piece, each piece treated in the same way, to the depth that is fastest.
PlanningResult plan_recursive(const PlanningProblem& problem, const PlannerOptions& options);
// §4.2: results that are cheap to make are dropped, cheapest per byte first, as few as the limit asks for.
PlanningResult plan_drop_cheap(const PlanningProblem& problem, const PlannerOptions& options);

// DTR, by its three measures of what losing a content costs: evicted_costs.h, online_walk.h.
PlanningResult plan_dtr(const PlanningProblem& problem, const PlannerOptions& options);
PlanningResult plan_dtr_eq(const PlanningProblem& problem, const PlannerOptions& options);
PlanningResult plan_dtr_local(const PlanningProblem& problem, const PlannerOptions& options);

std::span<const Setting> stage_settings();
std::span<const Setting> recursive_settings();
std::span<const Setting> drop_cheap_settings();

}  // namespace ebb
