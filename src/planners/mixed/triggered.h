// Swaps whose copy back starts at a chosen position instead of as early as memory allows.
#pragma once

#include <vector>

#include "planners/evaluator.h"

namespace ebb {

struct Trigger {
  GapId gap = 0;
  OpIndex position = 0;  // unrolled; where the copy-in should start
};

// `plan` with in_from set for each trigger: its position, or the earliest one that `lowered` — the same plan
// lowered with open timing — found room for, whichever is later. What fitted before still fits.
Plan with_triggers(const Plan& plan, const LoweredPlan& lowered, const std::vector<Trigger>& triggers);

}  // namespace ebb
