#include "planners/least_limit.h"

#include <algorithm>

#include "plan/smallest_limit.h"

namespace ebb {
namespace {

constexpr Bytes kPrecision = 1000;  // part of the limit

bool has_effort(const Planner& planner) {
  return std::any_of(planner.settings.begin(), planner.settings.end(),
                     [](const Setting& setting) { return setting.name == "effort"; });
}

}  // namespace

LeastLimit find_least_limit(const Program& program, const Gaps& gaps, const Machine& machine,
                            const Planner& planner, const PlannerOptions& options) {
  auto plan_at = [&](Bytes limit, const PlannerOptions& with) {
    return plan_and_judge(planner, {program, gaps, machine, limit}, with);
  };
  PlannerOptions probe = options;
  probe.progress = nullptr;
  if (has_effort(planner)) probe.evaluations = 1;
  Bytes low = largest_op_need(program).bytes;
  Bytes high = std::max(low, program.peak_demand());
  LeastLimit least{.limit = low, .proved = true, .plan = plan_at(low, probe)};
  if (least.plan.infeasible) {
    least = {.limit = high, .proved = false, .plan = plan_at(high, probe)};
    if (least.plan.infeasible) return least;
    while (high - low > high / kPrecision) {
      const Bytes middle = low + (high - low) / 2;
      JudgedPlan judged = plan_at(middle, probe);
      if (judged.infeasible) {
        low = middle;
        continue;
      }
      high = std::clamp(judged.step.peak_demand, low + 1, middle);
      least = {.limit = high, .proved = false, .plan = std::move(judged)};
    }
  }
  PlannerOptions full = options;
  full.start = least.plan.lowered.plan;
  if (JudgedPlan found = plan_at(least.limit, full);
      !found.infeasible && found.step.step_time <= least.plan.step.step_time)
    least.plan = std::move(found);
  return least;
}

}  // namespace ebb
