#include "layout/reorder.h"

#include <algorithm>

namespace ebb::layout {

std::optional<std::vector<Units>> pack_by_reordering(const Instance& instance,
                                                     const std::vector<Units>& fixed, std::vector<int> order,
                                                     Fit fit, const std::vector<AddressSpan>& spans,
                                                     int attempts, SearchBudget& budget) {
  for (int attempt = 0; attempt < attempts && !budget.is_spent(); ++attempt) {
    Placement placement = place_in_order(instance, fixed, order, fit, spans);
    if (!placement.homeless) return std::move(placement.offsets);
    const auto homeless = std::find(order.begin(), order.end(), *placement.homeless);
    budget.steps -= placement.steps;
    // Half way to the front: what was moved often ends up first.
    std::rotate(order.begin() + (homeless - order.begin()) / 2, homeless, homeless + 1);
  }
  return std::nullopt;
}

}  // namespace ebb::layout
