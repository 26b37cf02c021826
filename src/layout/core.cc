#include "layout/core.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "layout/components.h"
#include "layout/greedy.h"
#include "layout/ground.h"
#include "layout/reorder.h"

namespace ebb::layout {
namespace {

// What belongs to a core: items alive while the load is at least this share of its peak, with at least this
// share of the part's area, peak x sections.
struct Shape {
  double share = 0;
  double area = 0;

  bool contains(const Shape& other) const { return share <= other.share && area <= other.area; }
};

constexpr std::array kShapes{
    Shape{0.95},       Shape{0.9},       Shape{0.98},  Shape{0.995},     Shape{0.8, 1e-5}, Shape{0.9, 3e-4},
    Shape{0.95, 3e-4}, Shape{0.85},      Shape{0.999}, Shape{0.99},      Shape{0.0, 3e-5}, Shape{0.9, 1e-5},
    Shape{0.9, 3e-5},  Shape{0.9, 3e-3}, Shape{0.8},   Shape{0.8, 3e-4}, Shape{0.7},
};
constexpr int kRounds = 3;  // over the shapes, each with twice the steps
constexpr int kSeeds = 2;   // of a round, for cores that are packed
constexpr std::int64_t kStepsPerPiece = 20'000;
constexpr int kReorderingsAround = 40;  // of what lies around a core
constexpr Units kFinestPart = 4;

using Measure = double (*)(const Item&);

double size_of(const Item& item) { return static_cast<double>(item.size); }
double area_of(const Item& item) { return static_cast<double>(item.size) * item.count; }

constexpr std::array<Measure, 2> kMeasures{size_of, area_of};

// The items of this shape, longest-lived first, on sections of their own.
Instance core_of(const Instance& part, const Shape& shape) {
  const std::vector<Units> load = load_of(part);
  const auto peak = static_cast<double>(*std::max_element(load.begin(), load.end()));
  const auto threshold = static_cast<Units>(shape.share * peak);
  const double smallest = shape.area * peak * part.sections;
  std::vector<int> critical_before(part.sections + 1, 0);
  for (int s = 0; s < part.sections; ++s) {
    critical_before[s + 1] = critical_before[s] + (load[s] >= threshold ? 1 : 0);
  }
  Problem core{.buffers = {}, .period = part.sections};
  for (std::size_t i = 0; i < part.items.size(); ++i) {
    const Item& item = part.items[i];
    if (area_of(item) < smallest) continue;
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

// Offsets per item of the whole part, -1 for those outside the core; none unless the core fits.
SearchResult pack_core(const Instance& core, std::size_t items, Units ceiling, std::uint64_t seed,
                       std::int64_t steps, SearchBudget& budget) {
  std::vector<Units> offsets(items, -1);
  const Components components = take_apart(core);
  for (const Settled& settled : components.settled) offsets[settled.source] = settled.offset;
  for (const Instance& piece : components.parts) {
    const SearchResult result =
        budget.lend(steps, [&](SearchBudget& share) { return search_valleys(piece, ceiling, seed, share); });
    if (result.end != SearchEnd::kFits) return {.end = result.end};
    for (std::size_t i = 0; i < piece.items.size(); ++i) offsets[piece.items[i].source] = result.offsets[i];
  }
  return {.end = SearchEnd::kFits, .offsets = std::move(offsets)};
}

std::vector<int> largest_first(const Instance& part, Measure measure) {
  std::vector<int> order(part.items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return measure(part.items[a]) > measure(part.items[b]); });
  return order;
}

// Packs one part around one core after the other and keeps the lowest layout.
class CorePacker {
 public:
  CorePacker(const Instance& part, Units goal, PartLayout start, SearchBudget& budget)
      : part_(part), goal_(goal), best_(std::move(start)), budget_(budget) {
    for (const Measure measure : kMeasures) orders_.push_back(largest_first(part, measure));
  }

  // False if the core was not packed.
  bool pack_around(const Shape& shape, std::uint64_t seed, std::int64_t steps, int reorderings) {
    const Instance core = core_of(part_, shape);
    if (core.items.empty() || core.items.size() > kLargestCore) return false;
    SearchResult packed = pack_core(core, part_.items.size(), goal_, seed, steps, budget_);
    if (packed.end == SearchEnd::kDoesNotFit) best_.lower_bound = std::max(best_.lower_bound, goal_ + 1);
    if (packed.end != SearchEnd::kFits) return false;
    std::vector<Units>& fixed = packed.offsets;
    if (std::find(seen_.begin(), seen_.end(), fixed) != seen_.end()) return true;
    place_around(fixed);
    if (!is_done() && reorderings > 0) reorder_around(fixed, reorderings);
    seen_.push_back(std::move(fixed));
    return true;
  }

  bool is_done() const { return best_.height <= goal_ || best_.lower_bound > goal_ || budget_.is_spent(); }
  PartLayout take() { return std::move(best_); }

 private:
  void place_around(const std::vector<Units>& fixed) {
    for (const std::vector<int>& order : orders_) {
      for (const Fit fit : kFits) {
        Placement placement = place_in_order(part_, fixed, order, fit, below(best_.height - 1));
        budget_.steps -= placement.steps;
        if (!placement.homeless) keep(std::move(placement.offsets));
        if (is_done()) return;
      }
    }
  }

  // To the goal, or half way there, or a quarter.
  void reorder_around(const std::vector<Units>& fixed, int reorderings) {
    for (const std::vector<int>& order : orders_) {
      for (Units part = 1; part <= kFinestPart && !is_done(); part *= 2) {
        const Units ceiling = best_.height - (best_.height - goal_ + part - 1) / part;
        auto offsets =
            pack_by_reordering(part_, fixed, order, Fit::kFirst, below(ceiling), reorderings, budget_);
        if (offsets) keep(std::move(*offsets));
      }
    }
  }

  std::vector<AddressSpan> below(Units ceiling) const {
    return {{.begin = part_.base.front(), .end = ceiling}};
  }

  void keep(std::vector<Units> offsets) {
    best_.height = height_of(part_, offsets);
    best_.offsets = std::move(offsets);
  }

  const Instance& part_;
  const Units goal_;
  PartLayout best_;
  SearchBudget& budget_;
  std::vector<std::vector<int>> orders_;
  std::vector<std::vector<Units>> seen_;  // cores that were packed around; another share can give the same
};

}  // namespace

PartLayout pack_around_core(double share, Units goal, const Instance& part, PartLayout start,
                            std::uint64_t seed, SearchBudget& budget) {
  CorePacker packer(part, goal, std::move(start), budget);
  packer.pack_around({share}, seed, kStepsPerPiece, 0);
  return packer.take();
}

PartLayout pack_around_cores(Units goal, const Instance& part, PartLayout start, std::uint64_t seed,
                             SearchBudget& budget) {
  CorePacker packer(part, goal, std::move(start), budget);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Shape> too_hard;
    for (const Shape& shape : kShapes) {
      const auto contained = [&](const Shape& hard) { return shape.contains(hard); };
      for (int k = 0; k < kSeeds && !packer.is_done(); ++k) {
        if (std::any_of(too_hard.begin(), too_hard.end(), contained)) break;
        const auto next_seed = seed + static_cast<std::uint64_t>(round * kSeeds + k);
        if (!packer.pack_around(shape, next_seed, kStepsPerPiece << round, kReorderingsAround))
          too_hard.push_back(shape);
      }
    }
  }
  return packer.take();
}

}  // namespace ebb::layout
