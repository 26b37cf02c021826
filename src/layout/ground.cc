#include "layout/ground.h"

#include <algorithm>

namespace ebb::layout {

std::vector<Units> fixed_offsets(const Problem& problem, Bytes unit) {
  std::vector<Units> fixed;
  fixed.reserve(problem.buffers.size());
  for (const Buffer& buffer : problem.buffers) fixed.push_back(buffer.fixed ? *buffer.fixed / unit : -1);
  return fixed;
}

std::optional<Instance> on_fixed_ground(const Instance& instance, const std::vector<Units>& fixed) {
  Instance free{.sections = instance.sections, .items = {}, .base = instance.base};
  std::vector<Units> highest(instance.base);
  for (std::size_t i = 0; i < instance.items.size(); ++i) {
    const Item& item = instance.items[i];
    if (fixed[i] < 0) {
      free.items.push_back(item);
      continue;
    }
    for_ranges(item, instance.sections, [&](int first, int last) {
      for (int s = first; s < last; ++s) {
        free.base[s] += item.size;
        highest[s] = std::max(highest[s], fixed[i] + item.size);
      }
    });
  }
  if (highest != free.base) return std::nullopt;
  return free;
}

Units height_of(const Instance& instance, const std::vector<Units>& offsets) {
  Units height = instance.base.empty() ? 0 : *std::max_element(instance.base.begin(), instance.base.end());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    height = std::max(height, offsets[i] + instance.items[i].size);
  }
  return height;
}

}  // namespace ebb::layout
