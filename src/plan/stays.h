// What the stays of a decision mean for the end of its gap.
#pragma once

#include <algorithm>

#include "plan/plan.h"

namespace ebb {

// Is the block of this trailing gap still there when the program frees it, and kept beyond that for a later
// replay?
inline bool kept_past_death(const Gap& gap, const Decision& decision) {
  if (gap.kind != GapKind::trailing || decision.action != Action::recompute || !decision.stays) return false;
  return std::any_of(decision.stays->begin(), decision.stays->end(), [&](const OpRange& stay) {
    const bool there = stay.begin < gap.to || stay.begin == gap.from + 1;
    return there && stay.end > gap.to;
  });
}

}  // namespace ebb
