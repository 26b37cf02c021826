// [OFF] section 6.1's variant of vDNN++ for layers that carry no names.
#pragma once

#include <vector>

#include "planners/chain/chain.h"

namespace ebb {

// For every threshold on u_F / |x|, at most `thresholds` of them, evenly spread (0 = all): the activations
// above it, and every other one of those.
std::vector<OffloadSet> threshold_sets(const Chain& chain, std::size_t thresholds = 0);

}  // namespace ebb
