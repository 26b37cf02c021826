// Which ops of an iteration must leave a recipe so that its plan can be followed: those it replays, and those
// that could remake a block at the moment it is dropped. A block that the plan expects nobody to read again
// is dropped too, and never replayed; without a recipe it would have to be copied.
#pragma once

#include "runtime/prepared_plan.h"

namespace ebb {

// By op. `targets`: by position, the blocks that its replay brings back.
std::vector<bool> remembered_ops(const Program& program, const PreparedPlan& plan,
                                 std::span<const std::vector<BlockId>> targets);

}  // namespace ebb
