// The planners that see a step as a chain ([OFF]), and the layer-wise baselines they are compared with.
// See docs/notes/chain.md.
#pragma once

#include "planners/planner.h"

namespace ebb {

// [OFF] Theorem 2: offloads the first activations, as many as make up for what does not fit.
PlanningResult plan_greedy(const PlanningProblem& problem, const PlannerOptions& options);
// [OFF] Algorithm 1 with slots: offloads the activations with which the chain idles least.
PlanningResult plan_dynprog(const PlanningProblem& problem, const PlannerOptions& options);
// [OFF] section 6.1's stand-in for vDNN: the activations whose layer computes longest per byte.
PlanningResult plan_vdnn_threshold(const PlanningProblem& problem, const PlannerOptions& options);
// The optimal chain program for recomputation (segment_program.h).
PlanningResult plan_chain_dp(const PlanningProblem& problem, const PlannerOptions& options);
// The same where what is kept may also leave.
PlanningResult plan_chain_dp_offload(const PlanningProblem& problem, const PlannerOptions& options);
// vDNN: every layer waits for the copy of the layer before.
PlanningResult plan_vdnn(const PlanningProblem& problem, const PlannerOptions& options);
// vDNN++: the same blocks or every other one, without waits.
PlanningResult plan_vdnn_plus(const PlanningProblem& problem, const PlannerOptions& options);

inline constexpr Setting kDynProgSlots{"slots", 500, "slots that the memory is divided into"};
inline constexpr Setting kChainDpSlots{"slots", 256, "slots that the memory is divided into"};
inline constexpr Setting kChainDpStages{"stages", 64, "most stages of the chain; layers are joined to these"};
inline constexpr Setting kVdnnInputs{"inputs", 0,
                                     "what leaves: 1 inputs of convolutions, 2 of all layers, 0 the better"};
inline constexpr Setting kVdnnEvery{"every", 0,
                                    "which convolutions' inputs leave: 1 all, 2 every other, 0 the better"};

}  // namespace ebb
