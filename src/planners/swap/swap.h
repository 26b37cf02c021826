// Planners that only swap: AutoSwap and the baselines that its paper and later ones compare with.
#pragma once

#include "planners/planner.h"

namespace ebb {

// [SP] §IV with one priority score. See docs/notes/autoswap.md.
PlanningResult plan_autoswap_doa(const PlanningProblem& problem, const PlannerOptions& options);
PlanningResult plan_autoswap_aoa(const PlanningProblem& problem, const PlannerOptions& options);
PlanningResult plan_autoswap_wdoa(const PlanningProblem& problem, const PlannerOptions& options);
PlanningResult plan_autoswap_swdoa(const PlanningProblem& problem, const PlannerOptions& options);
// [SP] §IV-C: the mix of the four whose plan is simulated fastest. Each of them is tried first.
PlanningResult plan_autoswap_bo(const PlanningProblem& problem, const PlannerOptions& options);

// The first tensors, in order, that live across the peak are swapped and return a fixed number of layers
// before their use, whatever memory there is. Over the limit at any time means that it does not fit; the best
// of many (tensors, layers) is returned.
PlanningResult plan_tflms(const PlanningProblem& problem, const PlannerOptions& options);
// The first layers are swapped, as many as it takes: all their data comes in during the layer before and
// leaves during the layer after.
PlanningResult plan_geeps(const PlanningProblem& problem, const PlannerOptions& options);
// G10's rule: the gap that takes most bytes x time off what is above the limit, with time on the link
// reserved for it; then the next.
PlanningResult plan_excess_area(const PlanningProblem& problem, const PlannerOptions& options);

// Candidates of AutoSwap have at least this many MiB.
inline constexpr Setting kSmallestCandidate{"smallest", 1, "MiB below which a block is no candidate"};

}  // namespace ebb
