#include "planners/evaluator.h"

namespace ebb {

StepResult Evaluator::operator()(const Plan& plan) {
  ++count_;
  if (auto infeasible = lowerer_.lower(plan, limit_, lowered_)) {
    StepResult none;
    none.infeasible = std::move(infeasible);
    return none;
  }
  return simulator_.run(lowered_, limit_);
}

StepResult Evaluator::operator()(const Plan& plan, Timeline& timeline) {
  ++count_;
  if (auto infeasible = lowerer_.lower(plan, limit_, lowered_)) {
    StepResult none;
    none.infeasible = std::move(infeasible);
    return none;
  }
  return simulator_.run(lowered_, limit_, timeline, schedule_);
}

}  // namespace ebb
