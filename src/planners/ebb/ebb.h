// Our planner: keep, move or compute again, for every gap. docs/notes/ebb-planner.md says how it searches.
#pragma once

#include <array>

#include "planners/planner.h"

namespace ebb {

inline constexpr std::array kEbbSettings = {
    Setting{"footprint", 1, "1: plans again for less until the packed footprint keeps the limit; 0: by load"},
    Setting{"effort", 1, "times the default number of simulations, unless --evaluations is given"},
};

PlanningResult plan_ebb(const PlanningProblem& problem, const PlannerOptions& options);

}  // namespace ebb
