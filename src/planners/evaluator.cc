#include "planners/evaluator.h"

namespace ebb {

std::optional<Infeasible> Evaluator::lower(const Plan& plan) {
  auto infeasible = lowerer_.lower(plan, limit_, lowered_);
  ++count_;
  op_steps_ += ops_ + static_cast<std::int64_t>(lowered_.replays.size());
  return infeasible;
}

StepResult Evaluator::operator()(const Plan& plan) {
  if (auto infeasible = lower(plan)) {
    StepResult none;
    none.infeasible = std::move(infeasible);
    return none;
  }
  return simulator_.run(lowered_, limit_);
}

StepResult Evaluator::operator()(const Plan& plan, Timeline& timeline) {
  if (auto infeasible = lower(plan)) {
    StepResult none;
    none.infeasible = std::move(infeasible);
    return none;
  }
  return simulator_.run(lowered_, limit_, timeline, schedule_);
}

}  // namespace ebb
