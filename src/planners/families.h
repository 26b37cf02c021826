// The families of planners: one folder each, listed by a function that the folder's family.cc defines. A new
// family is declared here and named in registry.cc.
#pragma once

#include <span>

#include "planners/planner.h"

namespace ebb {

std::span<const Planner> basic_planners();      // basic/: nothing moves, and moving on demand
std::span<const Planner> recompute_planners();  // recompute/: dropping results and computing them again
std::span<const Planner> chain_planners();      // chain/: the step as a chain of layers ([OFF], vDNN)
std::span<const Planner> swap_planners();       // swap/: AutoSwap, and baselines that only swap
std::span<const Planner> ebb_planners();        // ebb/: ours
std::span<const Planner> mixed_planners();      // mixed/: [HOME], Capuchin, SuperNeurons

}  // namespace ebb
