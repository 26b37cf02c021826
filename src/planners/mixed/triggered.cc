#include "planners/mixed/triggered.h"

#include <algorithm>

namespace ebb {

Plan with_triggers(const Plan& plan, const LoweredPlan& lowered, const std::vector<Trigger>& triggers) {
  Plan timed = plan;
  for (const Trigger& trigger : triggers) {
    const auto swap = std::lower_bound(lowered.swaps.begin(), lowered.swaps.end(), trigger.gap,
                                       [](const Swap& s, GapId gap) { return s.gap < gap; });
    if (swap == lowered.swaps.end() || swap->gap != trigger.gap) continue;
    timed[trigger.gap].in_from = std::min(std::max(trigger.position, swap->in_from), swap->needed_at);
  }
  return timed;
}

}  // namespace ebb
