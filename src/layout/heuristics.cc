#include "layout/heuristics.h"

#include <algorithm>
#include <limits>

#include "layout/ground.h"

namespace ebb::layout {

Layout pack_greedily(const Problem& problem, Order order, Fit fit, Bytes alignment) {
  check(problem, alignment);
  if (problem.buffers.empty()) return {.fits = true, .proved = true};
  const Bytes unit = unit_of(problem, alignment);
  const Instance instance = cut_into_sections(problem, alignment, unit);
  const AddressSpan everything{.begin = 0, .end = std::numeric_limits<Units>::max() / 2};
  const Placement placement =
      place_in_order(instance, fixed_offsets(problem, unit), sorted_by(order, problem), fit, {everything});

  Layout layout{.fits = true, .load = peak_load(problem, alignment)};
  layout.lower_bound = layout.load;
  layout.footprint = height_of(instance, placement.offsets) * unit;
  layout.proved = layout.footprint == layout.load;
  for (const Units offset : placement.offsets) layout.offsets.push_back(offset * unit);
  return layout;
}

Layout pack_smartpool(const Problem& problem, Fit fit, Bytes alignment) {
  return pack_greedily(problem, Order::kSize, fit, alignment);
}

}  // namespace ebb::layout
