// Placing buffers one after the other, each where it fits among those placed before: the eight classical
// heuristics {first, best fit} × {size, duration, area, birth}, and any other order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "layout/sections.h"

namespace ebb::layout {

// First fit takes the lowest hole that is large enough, best fit the smallest. The room above everything that
// is in the way is taken if no hole fits.
enum class Fit { kFirst, kBest };
enum class Order { kSize, kDuration, kArea, kBirth };

inline constexpr std::array kFits{Fit::kFirst, Fit::kBest};
inline constexpr std::array kOrders{Order::kSize, Order::kDuration, Order::kArea, Order::kBirth};

// A stretch of addresses that can hold items; no item lies across its ends.
struct AddressSpan {
  Units begin = 0;
  Units end = 0;
};

// Indices of all buffers: largest first, or earliest first for kBirth; ties in input order.
std::vector<int> sorted_by(Order order, const Problem& problem);

// What placing in order came to: offsets per item, or the first item that found no room.
struct Placement {
  std::vector<Units> offsets;
  std::optional<int> homeless;
  std::int64_t steps = 0;  // what it took, as SearchBudget counts
};

// Places fixed items where they must be, then the others in the given order, each inside one of the spans.
// REQUIRES: spans are sorted and disjoint, there is at least one; `fixed` is per item, -1 for a free one.
Placement place_in_order(const Instance& instance, const std::vector<Units>& fixed,
                         const std::vector<int>& order, Fit fit, const std::vector<AddressSpan>& spans);

}  // namespace ebb::layout
