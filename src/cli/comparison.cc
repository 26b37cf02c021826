#include "cli/comparison.h"

#include <fmt/format.h>

#include <stdexcept>

#include "cli/limit.h"
#include "cli/plan_result.h"

namespace ebb::cli {
namespace {

constexpr double kBoundSeconds = 5;

ComparedPlan compare_one(const PlanningProblem& problem, const Planner& planner,
                         const PlannerOptions& options) {
  if (auto reason = why_out_of_reach(problem.limit, problem.program))
    return {.planner = std::string(planner.name), .reason = *reason};
  const JudgedPlan judged = plan_and_judge(planner, problem, options);
  check_schedule(judged);
  return compared(problem, std::string(planner.name), judged);
}

}  // namespace

ComparedPlan compared(const PlanningProblem& problem, const std::string& planner, const JudgedPlan& judged) {
  return {.planner = planner,
          .reason = judged.infeasible ? reason_for(problem, *judged.infeasible) : "",
          .step = judged.step,
          .planning_seconds = judged.planning_seconds,
          .evaluations = judged.evaluations,
          .rounds = judged.rounds};
}

Comparison compare(const ComparisonTask& task, const ProgressFor& progress_for) {
  const Gaps gaps(task.program);
  Comparison comparison{
      .trace = task.trace, .machine = task.machine.name, .peak_demand = task.program.peak_demand()};
  for (const std::string& text : task.limits) {
    const PlanningProblem problem{task.program, gaps, task.machine, parse_limit(text, task.program)};
    ComparedLimit limit{.text = text, .bytes = problem.limit};
    for (const Planner* planner : task.planners) {
      PlannerOptions options = task.options;
      options.progress = progress_for(std::string(planner->name), text);
      limit.plans.push_back(compare_one(problem, *planner, options));
    }
    limit.bounds = bounds(task.program, gaps, task.machine, problem.limit, {.lp_seconds = kBoundSeconds});
    comparison.plain_time = limit.bounds.plain_time;
    comparison.limits.push_back(std::move(limit));
  }
  return comparison;
}

}  // namespace ebb::cli
