#include "layout/value_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ebb::layout {
namespace {

std::vector<double> highest_load(const Instance& instance) {
  const std::vector<Units> load = load_of(instance);
  std::vector<double> highest;
  for (const Item& item : instance.items) {
    Units most = 0;
    for_ranges(item, instance.sections, [&](int first, int last) {
      most = std::max(most, *std::max_element(load.begin() + first, load.begin() + last));
    });
    highest.push_back(static_cast<double>(most));
  }
  return highest;
}

// Large items in tight places first.
std::vector<double> size_and_load(const Instance& instance) {
  std::vector<double> result = highest_load(instance);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] *= result[i] * std::sqrt(static_cast<double>(instance.items[i].size));
  }
  return result;
}

}  // namespace

ValueOrder::ValueOrder(const Instance& instance, std::uint64_t seed)
    : measures_{size_and_load(instance), highest_load(instance), size_and_load(instance)},
      blurred_(instance.items.size()),
      order_(instance.items.size()),
      rank_(instance.items.size()),
      random_(seed) {}

void ValueOrder::draw() {
  const std::vector<double>& measure = measures_[drawn_++ % measures_.size()];
  for (std::size_t i = 0; i < blurred_.size(); ++i) {
    const double noise = static_cast<double>(random_() >> 11) * 0x1p-53;  // the same on every platform
    blurred_[i] = measure[i] * (1 + noise);
  }
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return blurred_[a] > blurred_[b]; });
  for (std::size_t k = 0; k < order_.size(); ++k) rank_[order_[k]] = static_cast<int>(k);
}

}  // namespace ebb::layout
