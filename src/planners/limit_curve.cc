#include "planners/limit_curve.h"

#include <algorithm>

#include "plan/smallest_limit.h"

namespace ebb {
namespace {

constexpr double kWarmEffort = 0.25;  // of a search that starts from its neighbour

// Planners that take a start have an effort.
bool is_search(const Planner& planner) {
  return std::any_of(planner.settings.begin(), planner.settings.end(),
                     [](const Setting& setting) { return setting.name == "effort"; });
}

bool beats(const JudgedPlan& a, const JudgedPlan& b) {
  return !a.infeasible && (b.infeasible || a.step.step_time < b.step.step_time);
}

}  // namespace

std::vector<JudgedPlan> find_curve(const CurveTask& task, const std::vector<Bytes>& limits,
                                   const std::function<void(std::size_t)>& report) {
  const OpNeed need = largest_op_need(task.program);
  const bool warm = is_search(task.planner);
  std::vector<JudgedPlan> curve;
  PlannerOptions options = task.options;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const PlanningProblem problem{task.program, task.gaps, task.machine, limits[i]};
    JudgedPlan found;
    if (limits[i] < need.bytes)
      found.infeasible = Infeasible{Obstacle::too_large, need.op, -1, need.bytes, limits[i], ""};
    else
      found = plan_and_judge(task.planner, problem, options);
    if (warm && !found.infeasible) {
      options.start = found.lowered.plan;
      options.settings.try_emplace("effort", kWarmEffort);
    }
    curve.push_back(std::move(found));
    if (report) report(i);
  }
  for (std::size_t i = limits.size(); warm && i-- > 1;) {
    if (curve[i].infeasible) continue;
    const PlanningProblem more{task.program, task.gaps, task.machine, limits[i - 1]};
    if (!beats(judge(more, curve[i].lowered.plan), curve[i - 1])) continue;
    options.start = curve[i].lowered.plan;
    JudgedPlan found = plan_and_judge(task.planner, more, options);
    if (JudgedPlan same = judge(more, curve[i].lowered.plan); beats(same, found)) found = std::move(same);
    if (beats(found, curve[i - 1])) curve[i - 1] = std::move(found);
  }
  return curve;
}

}  // namespace ebb
