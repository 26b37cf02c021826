#include "layout/packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "layout/arenas.h"
#include "layout/components.h"
#include "layout/core.h"
#include "layout/descent.h"
#include "layout/greedy.h"
#include "layout/ground.h"
#include "layout/reorder.h"
#include "trace/error.h"

namespace ebb::layout {
namespace {

constexpr Units kUnlimited = std::numeric_limits<Units>::max() / 2;
constexpr std::int64_t kQuickSteps = 20'000;
constexpr std::size_t kSmallestCore = 100;  // items; fewer are searched as they are
constexpr std::size_t kSmallPart = 500;     // items; in smaller parts cores get an 8th of the steps
constexpr std::int64_t kShareOfCores = 8;
constexpr double kQuickShare = 0.95;
constexpr int kReorderings = 300;
// Of large steps under a plan, by area is the lowest by far, and by size the slowest to come to nothing.
constexpr std::array kBestFirst{Order::kArea, Order::kDuration, Order::kSize, Order::kBirth};

// Packs into one arena. All heights are in units.
class Packer {
 public:
  Packer(const Problem& problem, const PackOptions& options)
      : problem_(problem),
        options_(options),
        unit_(unit_of(problem, options.alignment)),
        whole_(cut_into_sections(problem, options.alignment, unit_)),
        fixed_(fixed_offsets(problem, unit_)),
        budget_(SearchBudget::start(options.budget, options.deadline_seconds)) {
    load_ = peak_load(problem, options.alignment) / unit_;
    bound_ = load_;
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      if (fixed_[i] >= 0) bound_ = std::max(bound_, fixed_[i] + whole_.items[i].size);
    }
    goal_ = options.capacity ? *options.capacity / unit_ : bound_;
  }

  Layout run() {
    if (goal_ < bound_) return answer();
    if (const std::optional<Instance> free = on_fixed_ground(whole_, fixed_)) {
      pack_parts(take_apart(*free));
      // What is tight almost all the time is too hard to search; there a better order helps more.
      SearchBudget extra{.steps = options_.budget / 2, .deadline = budget_.deadline};
      if (!options_.capacity) reorder(extra);
    } else {
      try_greedy();
      reorder(budget_);
    }
    return answer();
  }

 private:
  void pack_parts(const Components& components);
  bool pack_quickly(const Components& components, std::vector<PartLayout>& layouts);
  PartLayout pack_quickly(const Instance& part);
  PartLayout pack_thoroughly(const Instance& part, Units goal, Units lower_bound);
  void try_greedy();
  void reorder(SearchBudget& budget);
  Layout answer() const;

  bool is_good_enough() const { return height_ <= goal_; }

  void keep_if_better(std::vector<Units> offsets) {
    const Units height = height_of(whole_, offsets);
    if (height >= height_) return;
    height_ = height;
    best_ = std::move(offsets);
  }

  const Problem& problem_;
  const PackOptions& options_;
  Bytes unit_;
  Instance whole_;
  std::vector<Units> fixed_;
  SearchBudget budget_;
  Units load_ = 0;
  Units bound_ = 0;            // no layout is lower
  Units goal_ = 0;             // a layout of this height ends the search
  Units height_ = kUnlimited;  // of the best layout so far
  std::vector<Units> best_;
};

void Packer::pack_parts(const Components& components) {
  std::vector<PartLayout> layouts(components.parts.size());
  if (!pack_quickly(components, layouts)) {
    try_greedy();
    if (is_good_enough()) return;
  }
  Units goal = goal_;
  for (std::size_t k = 0; k < layouts.size(); ++k) {
    if (layouts[k].offsets.empty()) {
      layouts[k] = pack_thoroughly(components.parts[k], goal, layouts[k].lower_bound);
    }
    bound_ = std::max(bound_, layouts[k].lower_bound);
    if (layouts[k].offsets.empty()) return;
    goal = std::max(goal, layouts[k].height);
  }
  std::vector<Units> offsets = fixed_;
  for (const Settled& settled : components.settled) offsets[settled.source] = settled.offset;
  for (std::size_t k = 0; k < layouts.size(); ++k) {
    const std::vector<Item>& items = components.parts[k].items;
    for (std::size_t i = 0; i < items.size(); ++i) offsets[items[i].source] = layouts[k].offsets[i];
  }
  keep_if_better(std::move(offsets));
}

// A short attempt at the goal for each part. True if all reached it.
bool Packer::pack_quickly(const Components& components, std::vector<PartLayout>& layouts) {
  bool all = true;
  for (std::size_t k = 0; k < layouts.size(); ++k) {
    layouts[k] = pack_quickly(components.parts[k]);
    all = all && !layouts[k].offsets.empty();
  }
  return all;
}

PartLayout Packer::pack_quickly(const Instance& part) {
  PartLayout layout{.height = goal_ + 1};
  if (part.items.size() >= kSmallPart && has_level_base(part)) {
    layout = pack_around_core(kQuickShare, goal_, part, std::move(layout), options_.seed, budget_);
    if (!layout.offsets.empty()) return layout;
  }
  if (part.items.size() > kLargestSearch) return layout;
  SearchResult result = budget_.lend(
      kQuickSteps, [&](SearchBudget& share) { return search_valleys(part, goal_, options_.seed, share); });
  if (result.end == SearchEnd::kDoesNotFit) layout.lower_bound = goal_ + 1;
  if (result.end == SearchEnd::kFits) layout.height = height_of(part, result.offsets);
  layout.offsets = std::move(result.offsets);
  return layout;
}

// The search starts from what was known before the cores, so that what they come to does not lead it astray.
PartLayout Packer::pack_thoroughly(const Instance& part, Units goal, Units lower_bound) {
  PartLayout start{.height = height_, .lower_bound = lower_bound};
  PartLayout around = start;
  if (part.items.size() >= kSmallestCore && has_level_base(part)) {
    const std::int64_t steps = part.items.size() >= kSmallPart ? budget_.steps
                               : options_.capacity             ? kQuickSteps / kShareOfCores
                                                               : options_.budget / kShareOfCores;
    around = budget_.lend(steps, [&](SearchBudget& share) {
      return pack_around_cores(goal, part, start, options_.seed, share);
    });
  }
  if (part.items.size() > kLargestSearch || around.height <= goal) return around;
  start.lower_bound = around.lower_bound;
  if (!options_.capacity) {
    PartLayout searched = lower_to(goal, part, std::move(start), options_.seed + 1, budget_);
    around.lower_bound = searched.lower_bound;
    return around.height < searched.height ? around : searched;
  }
  SearchResult result = search_valleys(part, goal, options_.seed + 1, budget_);
  if (result.end == SearchEnd::kDoesNotFit) start.lower_bound = goal + 1;
  if (result.end == SearchEnd::kFits) start.height = height_of(part, result.offsets);
  start.offsets = std::move(result.offsets);
  return start;
}

void Packer::try_greedy() {
  for (const Order order : kBestFirst) {
    const std::vector<int> sorted = sorted_by(order, problem_);
    for (const Fit fit : kFits) {
      const Units ceiling = options_.capacity ? goal_ : height_ - 1;
      Placement placement = place_in_order(whole_, fixed_, sorted, fit, {{.begin = 0, .end = ceiling}});
      budget_.steps -= placement.steps;
      if (!placement.homeless) keep_if_better(std::move(placement.offsets));
      if (is_good_enough() || (options_.capacity && budget_.is_spent())) return;
      if (height_ < kUnlimited && budget_.is_late()) return;
    }
  }
}

void Packer::reorder(SearchBudget& budget) {
  Units step = std::max<Units>(1, (height_ - goal_) / 2);
  while (!is_good_enough() && !budget.is_spent()) {
    const Units ceiling = options_.capacity ? goal_ : std::max(goal_, height_ - step);
    const Units before = height_;
    for (const Order order : kOrders) {
      for (const Fit fit : kFits) {
        auto offsets = pack_by_reordering(whole_, fixed_, sorted_by(order, problem_), fit,
                                          {{.begin = 0, .end = ceiling}}, kReorderings, budget);
        if (!offsets) continue;
        keep_if_better(std::move(*offsets));
        break;
      }
      if (height_ < before) break;
    }
    if (height_ < before) continue;
    if (step == 1 || options_.capacity) return;  // the next ceiling would be the same
    step = std::max<Units>(1, step / 2);
  }
}

Layout Packer::answer() const {
  Layout layout{.load = load_ * unit_, .lower_bound = bound_ * unit_};
  layout.fits = height_ < kUnlimited && (!options_.capacity || height_ <= goal_);
  if (!layout.fits) {
    layout.proved = bound_ > goal_;
    return layout;
  }
  layout.footprint = height_ * unit_;
  layout.proved = height_ == bound_;
  layout.offsets.reserve(best_.size());
  for (const Units offset : best_) layout.offsets.push_back(offset * unit_);
  return layout;
}

}  // namespace

Layout pack(const Problem& problem, const PackOptions& options) {
  check(problem, options.alignment);
  if (options.capacity && *options.capacity < 0) {
    throw InputError(fmt::format("capacity {} is negative", *options.capacity));
  }
  if (problem.buffers.empty()) return {.fits = true, .proved = true};
  if (!options.arenas.empty()) return pack_into_arenas(problem, options);
  return Packer(problem, options).run();
}

}  // namespace ebb::layout
