#include "planners/chain/threshold.h"

#include <algorithm>

#include "planners/chain/candidates.h"
#include "planners/chain/chain_planners.h"
#include "planners/chain/chain_report.h"

namespace ebb {

std::vector<OffloadSet> threshold_sets(const Chain& chain, std::size_t thresholds) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < chain.size(); ++i)
    if (chain.x(i) > 0) order.push_back(i);
  const auto ratio = [&](std::size_t i) {
    return static_cast<double>(chain.layers[i].forward) / static_cast<double>(chain.x(i));
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return ratio(a) > ratio(b); });
  const std::size_t count = thresholds == 0 ? order.size() : std::min(thresholds, order.size());
  std::vector<OffloadSet> sets;
  for (std::size_t k = 1; k <= count; ++k) {
    OffloadSet above(chain.size(), false);
    for (std::size_t rank = 0; rank < order.size() * k / count; ++rank) above[order[rank]] = true;
    OffloadSet half = above;
    bool stays = false;
    for (std::size_t i = 0; i < half.size(); ++i) {
      if (!half[i]) continue;
      half[i] = !stays;
      stays = !stays;
    }
    sets.push_back(std::move(above));
    sets.push_back(std::move(half));
  }
  return sets;
}

PlanningResult plan_vdnn_threshold(const PlanningProblem& problem, const PlannerOptions& options) {
  if (auto kept = plan_without_swaps(problem, options)) return *kept;
  const ChainView view = view_as_chain(problem.program, problem.gaps, problem.machine);
  Candidates candidates(problem);
  OffloadSet best(view.chain.size(), false);
  candidates.consider(plan_of(view, problem.gaps, best));
  const auto budget = static_cast<std::size_t>(std::max<std::int64_t>(0, options.evaluations));
  for (const OffloadSet& set : threshold_sets(view.chain, (budget + 1) / 2)) {
    const Nanoseconds before = candidates.best_time();
    candidates.consider(plan_of(view, problem.gaps, set));
    if (candidates.best_time() != before) best = set;
  }
  PlanningResult result = candidates.result();
  report_chain(view, problem, best, candidates.best_time(), result);
  return result;
}

}  // namespace ebb
