// A planner that nobody registered.
#pragma once

#include <functional>

#include "planners/planner.h"

namespace ebb {

using PlanFunction = std::function<PlanningResult(const PlanningProblem&, const PlannerOptions&)>;

}  // namespace ebb
