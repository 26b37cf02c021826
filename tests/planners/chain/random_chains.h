// Small random chains in slots, and the least idle time of one by trying every set of activations and
// stepping through time a slot at a time. It knows nothing of the equations of [OFF].
#pragma once

#include <optional>

#include "planners/chain/chain_program.h"
#include "random_programs.h"

namespace ebb {

// `layers` layers with small sizes and times; the memory lies between what the largest layer needs (now and
// then less) and the peak.
SlotChain random_slot_chain(Random& random, std::size_t layers);

// The makespan with exactly this set offloaded and transfers that may be interrupted. Nothing: does not fit.
std::optional<Slots> stepped_makespan(const SlotChain& chain, const OffloadSet& offloaded);

Slots compute_slots(const SlotChain& chain);
// The same chain with a slot a byte and a link that moves a byte a nanosecond.
Chain in_bytes(const SlotChain& chain);

}  // namespace ebb
