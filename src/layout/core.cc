#include "layout/core.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "layout/components.h"
#include "layout/greedy.h"
#include "layout/ground.h"

namespace ebb::layout {
namespace {

constexpr std::array kShares{0.95, 0.9, 0.98, 0.85, 0.8, 0.7};
constexpr std::int64_t kStepsPerPart = 20'000;

// The items alive in sections of at least `threshold` load, longest-lived first, on sections of their own.
Instance core_of(const Instance& part, Units threshold) {
  const std::vector<Units> load = load_of(part);
  std::vector<int> critical_before(part.sections + 1, 0);
  for (int s = 0; s < part.sections; ++s) {
    critical_before[s + 1] = critical_before[s] + (load[s] >= threshold ? 1 : 0);
  }
  Problem core{.buffers = {}, .period = part.sections};
  for (std::size_t i = 0; i < part.items.size(); ++i) {
    const Item& item = part.items[i];
    bool is_critical = false;
    for_ranges(item, part.sections, [&](int first, int last) {
      is_critical = is_critical || critical_before[last] > critical_before[first];
    });
    if (!is_critical) continue;
    core.buffers.push_back({.id = static_cast<BufferId>(i),
                            .begin = item.first,
                            .end = item.first + item.count,
                            .size = item.size});
  }
  std::stable_sort(core.buffers.begin(), core.buffers.end(),
                   [](const Buffer& a, const Buffer& b) { return a.end - a.begin > b.end - b.begin; });
  Instance instance = cut_into_sections(core, 1, 1);
  std::fill(instance.base.begin(), instance.base.end(), part.base.front());
  for (Item& item : instance.items) item.source = static_cast<int>(core.buffers[item.source].id);
  return instance;
}

// Offsets per item of the whole part, -1 for those outside the core; empty if the core was not packed.
std::vector<Units> pack_core(const Instance& core, std::size_t items, Units ceiling, std::uint64_t seed,
                             SearchBudget& budget) {
  std::vector<Units> offsets(items, -1);
  const Components components = take_apart(core);
  for (const Settled& settled : components.settled) offsets[settled.source] = settled.offset;
  for (const Instance& piece : components.parts) {
    const SearchResult result = budget.lend(
        kStepsPerPart, [&](SearchBudget& share) { return search_valleys(piece, ceiling, seed, share); });
    if (result.end != SearchEnd::kFits) return {};
    for (std::size_t i = 0; i < piece.items.size(); ++i) offsets[piece.items[i].source] = result.offsets[i];
  }
  return offsets;
}

std::vector<int> largest_first(const Instance& part) {
  std::vector<int> order(part.items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return part.items[a].size > part.items[b].size; });
  return order;
}

}  // namespace

PartLayout pack_around_core(double share, Units goal, const Instance& part, PartLayout start,
                            std::uint64_t seed, SearchBudget& budget) {
  const std::vector<Units> load = load_of(part);
  const auto peak = static_cast<double>(*std::max_element(load.begin(), load.end()));
  const Instance core = core_of(part, static_cast<Units>(share * peak));
  if (core.items.size() > kLargestCore) return start;
  const std::vector<Units> fixed = pack_core(core, part.items.size(), goal, seed, budget);
  if (fixed.empty()) return start;
  for (const Fit fit : kFits) {
    const std::vector<AddressSpan> below{{.begin = part.base.front(), .end = start.height - 1}};
    Placement placement = place_in_order(part, fixed, largest_first(part), fit, below);
    budget.steps -= placement.steps;
    if (placement.homeless) continue;
    start.height = height_of(part, placement.offsets);
    start.offsets = std::move(placement.offsets);
    if (start.height <= goal) break;
  }
  return start;
}

PartLayout pack_around_cores(Units goal, const Instance& part, PartLayout start, std::uint64_t seed,
                             SearchBudget& budget) {
  for (const double share : kShares) {
    if (start.height <= goal || budget.is_spent()) break;
    start = pack_around_core(share, goal, part, std::move(start), seed, budget);
  }
  return start;
}

}  // namespace ebb::layout
