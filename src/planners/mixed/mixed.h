// Planners that mix swapping and recomputing: [HOME] and those it compares itself with.
#pragma once

#include <array>

#include "planners/planner.h"

namespace ebb {

inline constexpr std::array kHomeSettings = {
    Setting{"particles", 80, "policies in the swarm; the paper has 500"},
    Setting{"iterations", 200, "updates of the swarm; the paper has 500"},
    Setting{"scatter", 1, "0: as printed; 1: a particle that no longer improves starts anew near the best"},
    Setting{"budget", 60, "ops simulated in all, in millions, unless --evaluations is given; 0: no limit"},
};

// Particle swarm over feature maps. Rounds: step times of the swarm after each update.
PlanningResult plan_home(const PlanningProblem& problem, const PlannerOptions& options);

// Capuchin: swaps with the most idle time left after both copies, then whichever of a swap and a
// recomputation costs less; copies back are triggered earlier where a run shows a wait.
PlanningResult plan_capuchin(const PlanningProblem& problem, const PlannerOptions& options);

// SuperNeurons: results of convolutions and matrix products are checkpoints, offloaded as needed, first made
// first; what lies between them is computed again, segment by segment. One of the two, or both.
PlanningResult plan_superneurons(const PlanningProblem& problem, const PlannerOptions& options);
PlanningResult plan_superneurons_swap(const PlanningProblem& problem, const PlannerOptions& options);
PlanningResult plan_superneurons_recompute(const PlanningProblem& problem, const PlannerOptions& options);

}  // namespace ebb
