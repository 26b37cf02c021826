// The planners everybody else is compared with: nothing moves, and moving only when memory runs out.
#pragma once

#include "planners/planner.h"

namespace ebb {

PlanningResult plan_keep(const PlanningProblem& problem, const PlannerOptions& options);
// Where an op does not fit, the blocks used longest ago leave just before it, and each returns when an op
// asks for it: nothing is copied ahead of need.
PlanningResult plan_ondemand(const PlanningProblem& problem, const PlannerOptions& options);

}  // namespace ebb
