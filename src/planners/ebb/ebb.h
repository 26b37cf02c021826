// Our planner: keep, move or compute again, for every gap. docs/notes/ebb-planner.md says how it searches.
#pragma once

#include "planners/planner.h"

namespace ebb {

PlanningResult plan_ebb(const PlanningProblem& problem, const PlannerOptions& options);

}  // namespace ebb
