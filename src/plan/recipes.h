// Which gaps' contents can be computed again, and what that takes if everything else the program has alive is
// present.
#pragma once

#include <span>
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
// have none. Blocks in `outliving` are taken to be there after the program has freed them.
std::vector<Recipe> find_recipes(const Program& program, const Gaps& gaps,
                                 std::span<const BlockId> outliving = {});

// Only whether there is one, by gap: linear in the program, where recipes can be as long as it is.
std::vector<char> find_remakable(const Program& program, const Gaps& gaps);

}  // namespace ebb
