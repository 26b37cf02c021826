#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "planners/recompute/best_plan.h"
#include "planners/recompute/recompute.h"
#include "planners/recompute/stages.h"

namespace ebb {
namespace {

constexpr std::array kStageSettings = {
    Setting{"crossing", 0, "most results that may cross a cut; 0: 1, 2, 4, … are tried"},
    Setting{"grid", 6, "budgets tried around √(xy)"},
};

// Appendix A: B = √(xy) from a run with B = 0, then a grid on [B/√2, √2·B].
std::vector<Bytes> budgets(const ForwardPlaces& places, const std::vector<OpIndex>& candidates, int grid) {
  const Stages finest = places.split(candidates, 0);
  const double middle =
      std::sqrt(static_cast<double>(finest.stored)) * std::sqrt(static_cast<double>(finest.largest));
  std::vector<Bytes> list = {static_cast<Bytes>(middle)};
  for (int i = 0; i < grid; ++i) {
    const double exponent = grid == 1 ? 0 : static_cast<double>(i) / (grid - 1) - 0.5;
    list.push_back(static_cast<Bytes>(middle * std::exp2(exponent)));
  }
  return list;
}

// Every split of the grid, for each width of cuts.
void for_each_split(const PlannerOptions& options, const ForwardPlaces& places, const BestPlan& best,
                    auto&& visit) {
  const int width = static_cast<int>(value_of(kStageSettings[0], options));
  const int grid = static_cast<int>(value_of(kStageSettings[1], options));
  std::vector<OpIndex> before;
  for (int w : width > 0 ? std::vector<int>{width} : places.widths()) {
    const std::vector<OpIndex> candidates = places.candidates(w);
    for (Bytes budget : budgets(places, candidates, grid)) {
      if (best.done()) return;
      std::vector<OpIndex> cuts = places.split(candidates, budget).cuts;
      if (cuts == before) continue;
      before = std::move(cuts);
      visit(before);
    }
  }
}

// Forward ops by time per byte of what they make for backward, the most first.
std::vector<OpIndex> costly_first(const PlanningProblem& problem, const Mirror& mirror) {
  std::vector<double> bytes(static_cast<std::size_t>(mirror.turn()), 0);
  for (GapId g : mirror.droppable())
    bytes[static_cast<std::size_t>(problem.program.version(problem.gaps[g].version).writer)] +=
        static_cast<double>(problem.program.block(problem.gaps[g].block).bytes);
  std::vector<OpIndex> ops;
  for (OpIndex i = 0; i < mirror.turn(); ++i)
    if (bytes[static_cast<std::size_t>(i)] > 0) ops.push_back(i);
  auto rate = [&](OpIndex i) {
    return static_cast<double>(problem.machine.op_time(problem.program.op(i))) /
           bytes[static_cast<std::size_t>(i)];
  };
  std::stable_sort(ops.begin(), ops.end(), [&](OpIndex a, OpIndex b) { return rate(a) > rate(b); });
  return ops;
}

}  // namespace

std::span<const Setting> stage_settings() { return kStageSettings; }

PlanningResult plan_sublinear(const PlanningProblem& problem, const PlannerOptions& options) {
  BestPlan best(problem, options);
  if (best.done()) return best.take();
  Mirror mirror(problem.program, problem.gaps);
  const ForwardPlaces places(problem.program, problem.gaps, mirror);
  for_each_split(options, places, best, [&](const std::vector<OpIndex>& cuts) {
    best.consider(mirror.plan(counts_of(places, cuts)));
  });
  return best.take();
}

PlanningResult plan_sublinear_cost(const PlanningProblem& problem, const PlannerOptions& options) {
  BestPlan best(problem, options);
  if (best.done()) return best.take();
  Mirror mirror(problem.program, problem.gaps);
  const ForwardPlaces places(problem.program, problem.gaps, mirror);
  const std::vector<OpIndex> costly = costly_first(problem, mirror);
  for_each_split(options, places, best, [&](const std::vector<OpIndex>& cuts) {
    const MirrorCounts counts = counts_of(places, cuts);
    auto fits_with = [&](std::size_t kept) {
      MirrorCounts keeping = counts;
      for (std::size_t i = 0; i < kept; ++i) keeping[static_cast<std::size_t>(costly[i])] = 0;
      return best.consider(mirror.plan(std::move(keeping)));
    };
    std::size_t fits = 0, too_many = costly.size() + 1;
    if (!fits_with(0)) return;
    while (too_many - fits > 1 && !best.done()) {
      const std::size_t middle = std::midpoint(fits, too_many);
      (fits_with(middle) ? fits : too_many) = middle;
    }
  });
  return best.take();
}

}  // namespace ebb
