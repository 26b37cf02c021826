// Lowering the ceiling over one part until the search cannot follow.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/valley_search.h"

namespace ebb::layout {

struct PartLayout {
  std::vector<Units> offsets = {};  // per item; empty: a layout of this height is known elsewhere
  Units height = 0;
  Units lower_bound = 0;  // no layout of the part is lower
};

// Lowers the height of `start` to the goal if possible, else as far as the budget allows.
PartLayout lower_to(Units goal, const Instance& part, PartLayout start, std::uint64_t seed,
                    SearchBudget& budget);

}  // namespace ebb::layout
