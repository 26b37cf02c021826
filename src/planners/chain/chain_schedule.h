// How long a chain takes when a given set of activations leaves: [OFF]'s no-wait, ordered schedule, in which
// activations leave in order of F and return in order of B, whole, one transfer at a time.
#pragma once

#include <optional>

#include "planners/chain/chain.h"

namespace ebb {

// Nothing if the set does not keep the memory. REQUIRES: one entry per layer.
std::optional<Nanoseconds> chain_makespan(const Chain& chain, Bytes memory, const OffloadSet& offloaded);
// Would the chain keep the memory with enough time for transfers?
bool keeps_memory(const Chain& chain, Bytes memory, const OffloadSet& offloaded);

// [OFF] Theorem 2, rounded up: the first activations that together make up for what does not fit.
OffloadSet greedy_offloads(const Chain& chain, Bytes memory);

}  // namespace ebb
