// Packing by a better order: place greedily below the ceiling, and whenever a buffer finds no room, let it go
// first and try again. Serves what the valley search cannot: several arenas, and fixed buffers with holes
// below.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "layout/budget.h"
#include "layout/greedy.h"

namespace ebb::layout {

// Offsets per item if an order was found.
std::optional<std::vector<Units>> pack_by_reordering(const Instance& instance,
                                                     const std::vector<Units>& fixed, std::vector<int> order,
                                                     Fit fit, const std::vector<AddressSpan>& spans,
                                                     int attempts, SearchBudget& budget);

}  // namespace ebb::layout
