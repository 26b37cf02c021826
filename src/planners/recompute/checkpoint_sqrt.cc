#include <cmath>

#include "planners/recompute/best_plan.h"
#include "planners/recompute/recompute.h"
#include "planners/recompute/stages.h"

namespace ebb {

PlanningResult plan_checkpoint_sqrt(const PlanningProblem& problem, const PlannerOptions& options) {
  BestPlan best(problem, options);
  if (best.done()) return best.take();
  Mirror mirror(problem.program, problem.gaps);
  const ForwardPlaces places(problem.program, problem.gaps, mirror);
  for (int width : places.widths()) {
    if (best.done()) break;
    const std::vector<OpIndex> candidates = places.candidates(width);
    const auto apart = static_cast<std::size_t>(std::lround(std::sqrt(candidates.size())));
    std::vector<OpIndex> cuts;
    for (std::size_t i = apart; i < candidates.size(); i += apart) cuts.push_back(candidates[i]);
    best.consider(mirror.plan(counts_of(places, cuts)));
  }
  return best.take();
}

}  // namespace ebb
