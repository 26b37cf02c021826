#include "planners/chain/candidates.h"

#include "planners/basic/basic.h"

namespace ebb {

std::optional<Infeasible> Candidates::consider(const Plan& plan) {
  const StepResult step = evaluate_(plan);
  if (step.infeasible) {
    failure_ = step.infeasible;
    return step.infeasible;
  }
  if (found() && step.step_time >= best_time_) return std::nullopt;
  best_ = plan;
  best_time_ = step.step_time;
  return std::nullopt;
}

PlanningResult Candidates::result() const {
  PlanningResult result{.plan = best_, .evaluations = evaluate_.count()};
  if (!found()) result.infeasible = failure_;
  return result;
}

std::optional<PlanningResult> plan_without_swaps(const PlanningProblem& problem,
                                                 const PlannerOptions& options) {
  PlanningResult kept = plan_keep(problem, options);
  if (kept.infeasible && options.allow_swap) return std::nullopt;
  return kept;
}

}  // namespace ebb
