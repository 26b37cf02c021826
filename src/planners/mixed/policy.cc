#include "planners/mixed/policy.h"

namespace ebb {

Score PolicyJudge::operator()(const Policy& policy) {
  for (std::size_t i = 0; i < maps_.size(); ++i) plan_[maps_[i].gap].action = policy[i];
  const StepResult step = evaluate_(plan_);
  infeasible_ = step.infeasible;
  if (!infeasible_) return {.excess = 0, .time = step.step_time};
  if (infeasible_->obstacle != Obstacle::too_large) return {};
  return {.excess = infeasible_->needed - infeasible_->available};
}

}  // namespace ebb
