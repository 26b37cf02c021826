#include "planners/recompute/best_plan.h"

#include <algorithm>

namespace ebb {

BestPlan::BestPlan(const PlanningProblem& problem, const PlannerOptions& options)
    : evaluate_(problem), options_(options) {
  result_.infeasible = Infeasible{};
  fits_as_it_is_ = consider(Plan::keep_all(problem.gaps));
}

bool BestPlan::done() const {
  if (fits_as_it_is_ || !options_.allow_recompute) return true;
  if (options_.evaluations > 0 && evaluate_.count() >= options_.evaluations) return true;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  return options_.deadline_seconds > 0 && elapsed.count() >= options_.deadline_seconds;
}

bool BestPlan::consider(const Plan& plan) {
  const StepResult step = evaluate_(plan);
  if (step.infeasible) {
    if (step.infeasible->obstacle != Obstacle::too_large) return false;
    if (smallest_need_ == 0 || step.infeasible->needed < smallest_need_) {
      smallest_need_ = step.infeasible->needed;
      if (result_.infeasible) result_.infeasible = step.infeasible;
    }
    return false;
  }
  const std::vector<Bytes>& need = evaluate_.lowered().need;
  const Bytes needed = *std::max_element(need.begin(), need.end());
  smallest_need_ = smallest_need_ == 0 ? needed : std::min(smallest_need_, needed);
  if (!result_.infeasible && step.step_time >= best_) return true;
  result_.infeasible.reset();
  result_.plan = plan;
  best_ = step.step_time;
  if (options_.progress) options_.progress({.best = best_, .evaluations = evaluate_.count()});
  return true;
}

PlanningResult BestPlan::take() {
  result_.evaluations = evaluate_.count();
  result_.findings.push_back({"smallest need", static_cast<double>(smallest_need_), "bytes"});
  return std::move(result_);
}

}  // namespace ebb
