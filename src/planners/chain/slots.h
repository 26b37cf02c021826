// [OFF] section 5.3.2: a chain in slots of memory, and what Algorithm 1 finds when they are refined until
// its answer holds for the chain in bytes.
#pragma once

#include "planners/chain/chain_program.h"

namespace ebb {

// Sizes round up, transfers that a layer hides round down, by partial sums. Activations round by partial sums
// too (`inputs`), so that some of them come out too small.
// REQUIRES: memory > 0, slots > 0.
SlotChain in_slots(const Chain& chain, Bytes memory, Slots slots);

struct ChainSolution {
  OffloadSet offloaded = {};
  int rounds = 0;         // of rounding activations up
  Nanoseconds bound = 0;  // makespan in the model of the last round
};

// Nothing if no set is found at this number of slots, which round up what layers need.
std::optional<ChainSolution> solve_in_slots(const Chain& chain, Bytes memory, Slots slots);

}  // namespace ebb
