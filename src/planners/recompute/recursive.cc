#include <algorithm>
#include <array>

#include "planners/recompute/best_plan.h"
#include "planners/recompute/recompute.h"
#include "planners/recompute/stages.h"

namespace ebb {
namespace {

constexpr std::array kSettings = {
    Setting{"k", 1, "results kept in each piece"},
    Setting{"crossing", 0, "most results that may cross a cut; 0: 1, 2, 4, … are tried"},
};

// Counts by level: what is kept in the whole is never made again, what is kept in a piece of it once, …
class Recursion {
 public:
  Recursion(const ForwardPlaces& places, const std::vector<OpIndex>& candidates, int k, int depth)
      : places_(places), candidates_(candidates), k_(k), depth_(depth) {}

  MirrorCounts run() {
    counts_.assign(static_cast<std::size_t>(places_.turn()), 0);
    split(0, candidates_.size(), 0);
    for (const auto& [maker, level] : kept_) {
      int& count = counts_[static_cast<std::size_t>(maker)];
      count = std::min(count, level);
    }
    return std::move(counts_);
  }
  int deepest() const { return deepest_; }

 private:
  OpIndex begin_of(std::size_t first) const { return first == 0 ? 0 : candidates_[first - 1] + 1; }
  OpIndex end_of(std::size_t last) const {
    return last == candidates_.size() ? places_.turn() : candidates_[last] + 1;
  }

  // The piece between candidate first − 1 and candidate `last`, with those in [first, last) inside it.
  void split(std::size_t first, std::size_t last, int level) {
    deepest_ = std::max(deepest_, level);
    if (first == last || level == depth_) {
      for (OpIndex i = begin_of(first); i < end_of(last); ++i) counts_[static_cast<std::size_t>(i)] = level;
      return;
    }
    const OpIndex begin = begin_of(first);
    const Bytes before = begin == 0 ? 0 : places_.made_until(begin - 1);
    const Bytes bytes = places_.made_until(end_of(last) - 1) - before;
    std::size_t from = first;
    for (int part = 1; part <= k_ && from < last; ++part) {
      const Bytes goal = before + bytes / (k_ + 1) * part;
      std::size_t cut = from;
      while (cut + 1 < last && distance(cut + 1, goal) <= distance(cut, goal)) ++cut;
      for (OpIndex maker : places_.makers_across(candidates_[cut])) kept_.emplace_back(maker, level);
      split(from, cut, level + 1);
      from = cut + 1;
    }
    split(from, last, level + 1);
  }
  Bytes distance(std::size_t candidate, Bytes goal) const {
    const Bytes made = places_.made_until(candidates_[candidate]);
    return made > goal ? made - goal : goal - made;
  }

  const ForwardPlaces& places_;
  const std::vector<OpIndex>& candidates_;
  const int k_;
  const int depth_;
  int deepest_ = 0;
  MirrorCounts counts_;
  std::vector<std::pair<OpIndex, int>> kept_;  // maker, level
};

}  // namespace

std::span<const Setting> recursive_settings() { return kSettings; }

PlanningResult plan_recursive(const PlanningProblem& problem, const PlannerOptions& options) {
  BestPlan best(problem, options);
  if (best.done()) return best.take();
  Mirror mirror(problem.program, problem.gaps);
  const ForwardPlaces places(problem.program, problem.gaps, mirror);
  const int k = std::max(1, static_cast<int>(value_of(kSettings[0], options)));
  const int width = static_cast<int>(value_of(kSettings[1], options));
  for (int w : width > 0 ? std::vector<int>{width} : places.widths()) {
    const std::vector<OpIndex> candidates = places.candidates(w);
    for (int depth = 1; !best.done(); ++depth) {
      Recursion recursion(places, candidates, k, depth);
      MirrorCounts counts = recursion.run();
      if (recursion.deepest() < depth) break;
      best.consider(mirror.plan(std::move(counts)));
    }
  }
  return best.take();
}

}  // namespace ebb
