// Which gaps' contents can be computed again, and what that takes if everything else the program has alive is
// present.
#pragma once

#include <vector>

#include "plan/gaps.h"

namespace ebb {

struct Recipe {
  bool remakable = false;
  Nanoseconds duration = 0;  // Σ of the ops to run again, as recorded
  std::vector<OpIndex> ops;  // in program order
};

// Has a side effect written the block since the content of the gap was made? A replay would lose that.
bool changed_by_side_effect(const Program& program, const Gap& gap);

// One recipe per gap: at the gap's `to`, or for trailing gaps at their last op. Gaps that cross the boundary
// have none.
std::vector<Recipe> find_recipes(const Program& program, const Gaps& gaps);

}  // namespace ebb
