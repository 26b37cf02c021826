#include "layout/arenas.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "layout/greedy.h"
#include "layout/ground.h"
#include "layout/reorder.h"
#include "layout/valley_search.h"
#include "trace/error.h"

namespace ebb::layout {
namespace {

constexpr int kReorderingsOfArenas = 200;
constexpr std::int64_t kStepsPerArena = 20'000;

// Arena k is the span k of one address space, so that a placement there says the arena too.
std::vector<AddressSpan> line_up(const std::vector<Bytes>& arenas, Bytes unit) {
  std::vector<AddressSpan> spans;
  Units begin = 0;
  for (const Bytes capacity : arenas) {
    if (capacity < 0) throw InputError(fmt::format("arena capacity {} is negative", capacity));
    spans.push_back({.begin = begin, .end = begin + capacity / unit});
    begin = spans.back().end;
  }
  return spans;
}

bool covers(const AddressSpan& span, Units offset) { return span.begin <= offset && offset < span.end; }

// Gives each item to the first arena whose load it does not push over the capacity, then searches each arena.
std::optional<std::vector<Units>> pack_by_load(const Instance& instance, const std::vector<int>& order,
                                               const std::vector<AddressSpan>& spans, std::uint64_t seed,
                                               SearchBudget& budget) {
  std::vector<Instance> arenas(spans.size(),
                               {.sections = instance.sections, .items = {}, .base = instance.base});
  std::vector<std::vector<Units>> loads(spans.size(), std::vector<Units>(instance.sections, 0));
  for (const int i : order) {
    Item item = instance.items[i];
    item.source = i;
    std::size_t arena = 0;
    const auto has_room = [&](std::size_t k) {
      Units most = 0;
      for_ranges(item, instance.sections, [&](int first, int last) {
        most = std::max(most, *std::max_element(loads[k].begin() + first, loads[k].begin() + last));
      });
      return most + item.size <= spans[k].end - spans[k].begin;
    };
    while (arena < spans.size() && !has_room(arena)) ++arena;
    if (arena == spans.size()) return std::nullopt;
    for_ranges(item, instance.sections, [&](int first, int last) {
      for (int s = first; s < last; ++s) loads[arena][s] += item.size;
    });
    arenas[arena].items.push_back(item);
  }
  std::vector<Units> offsets(instance.items.size());
  for (std::size_t k = 0; k < spans.size(); ++k) {
    const Units ceiling = spans[k].end - spans[k].begin;
    const SearchResult result = budget.lend(
        kStepsPerArena, [&](SearchBudget& share) { return search_valleys(arenas[k], ceiling, seed, share); });
    if (result.end != SearchEnd::kFits) return std::nullopt;
    for (std::size_t i = 0; i < arenas[k].items.size(); ++i) {
      offsets[arenas[k].items[i].source] = spans[k].begin + result.offsets[i];
    }
  }
  return offsets;
}

std::optional<std::vector<Units>> find_layout(const Problem& problem, const Instance& instance,
                                              const std::vector<AddressSpan>& spans,
                                              const PackOptions& options) {
  const std::vector<Units> fixed(instance.items.size(), -1);
  SearchBudget budget = SearchBudget::start(options.budget, options.deadline_seconds);
  for (const Order order : kOrders) {
    for (const Fit fit : kFits) {
      Placement placement = place_in_order(instance, fixed, sorted_by(order, problem), fit, spans);
      if (!placement.homeless) return std::move(placement.offsets);
    }
  }
  for (const Order order : kOrders) {
    auto offsets = pack_by_load(instance, sorted_by(order, problem), spans, options.seed, budget);
    if (offsets) return offsets;
  }
  for (const Order order : kOrders) {
    auto offsets = pack_by_reordering(instance, fixed, sorted_by(order, problem), Fit::kFirst, spans,
                                      kReorderingsOfArenas, budget);
    if (offsets) return offsets;
  }
  return std::nullopt;
}

}  // namespace

Layout pack_into_arenas(const Problem& problem, const PackOptions& options) {
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.fixed)
      throw InputError(fmt::format("buffer {}: a fixed offset needs a single arena", buffer.id));
  }
  const Bytes unit = unit_of(problem, options.alignment);
  const Instance instance = cut_into_sections(problem, options.alignment, unit);
  const std::vector<AddressSpan> spans = line_up(options.arenas, unit);

  Layout layout{.load = peak_load(problem, options.alignment)};
  layout.lower_bound = layout.load;
  Units widest = 0, largest = 0;
  for (const AddressSpan& span : spans) widest = std::max(widest, span.end - span.begin);
  for (const Item& item : instance.items) largest = std::max(largest, item.size);
  if (largest > widest || layout.load / unit > spans.back().end) {
    layout.proved = true;
    return layout;
  }
  const std::optional<std::vector<Units>> offsets = find_layout(problem, instance, spans, options);
  if (!offsets) return layout;

  layout.fits = true;
  std::vector<Units> heights(spans.size(), 0);
  for (std::size_t i = 0; i < offsets->size(); ++i) {
    const Units offset = (*offsets)[i];
    const auto span =
        std::find_if(spans.begin(), spans.end(), [&](const AddressSpan& s) { return covers(s, offset); });
    const int arena = static_cast<int>(span - spans.begin());
    layout.arenas.push_back(arena);
    layout.offsets.push_back((offset - span->begin) * unit);
    heights[arena] = std::max(heights[arena], offset - span->begin + instance.items[i].size);
  }
  layout.footprint = std::accumulate(heights.begin(), heights.end(), Units{0}) * unit;
  layout.proved = layout.footprint == layout.load;
  return layout;
}

}  // namespace ebb::layout
