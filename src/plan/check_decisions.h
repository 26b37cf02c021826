// Which decisions contradict their gap, before anything is simulated.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "plan/host_copies.h"

namespace ebb {

// Recomputing must not cross the boundary, stays must lie in their gap, and what trails must be remakable
// until it is freed; `remakable` is asked about trailing gaps only.
std::optional<Infeasible> check_recomputes(const Program& program, const Gaps& gaps,
                                           const std::function<bool(GapId)>& remakable, const Plan& plan);

// Directives must lie where the block is idle and its content final. REQUIRES: swaps resolved by `host`.
std::optional<Infeasible> check_swaps(const Program& program, const Gaps& gaps, const HostCopies& host,
                                      const Plan& plan, const std::vector<Swap>& swaps);

}  // namespace ebb
