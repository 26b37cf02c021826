#include "cli/comparison.h"

#include <fmt/format.h>

#include <stdexcept>

#include "cli/bound_view.h"
#include "cli/limit.h"
#include "cli/plan_result.h"
#include "plan/smallest_limit.h"
#include "planners/limit_curve.h"
#include "trace/error.h"

namespace ebb::cli {
namespace {

ComparedPlan compare_one(const PlanningProblem& problem, const Planner& planner,
                         const PlannerOptions& options) {
  if (auto reason = why_out_of_reach(problem.limit, problem.program))
    return {.planner = std::string(planner.name), .reason = *reason};
  const JudgedPlan judged = plan_and_judge(planner, problem, options);
  check_schedule(judged);
  return compared(problem, std::string(planner.name), judged);
}

void add_bounds(const ComparisonTask& task, const Gaps& gaps, ComparedLimit& limit, Comparison& comparison) {
  limit.bounds = bounds(task.program, gaps, task.machine, limit.bytes, {.lp_seconds = kBoundSeconds});
  comparison.plain_time = limit.bounds.plain_time;
}

constexpr int kCurveStep = 5;  // percent

}  // namespace

ComparedPlan compared(const PlanningProblem& problem, const std::string& planner, const JudgedPlan& judged) {
  return {.planner = planner,
          .reason = judged.infeasible ? reason_for(problem, *judged.infeasible) : "",
          .step = judged.step,
          .planning_seconds = judged.planning_seconds,
          .evaluations = judged.evaluations,
          .rounds = judged.rounds};
}

std::vector<std::string> curve_limits(const Program& program) {
  std::vector<std::string> limits;
  const Bytes least = largest_op_need(program).bytes;
  for (int percent = 100 - kCurveStep; percent > 0; percent -= kCurveStep)
    if (const std::string text = fmt::format("{}%", percent); parse_limit(text, program) >= least)
      limits.push_back(text);
  if (limits.empty() || parse_limit(limits.back(), program) > least)
    limits.push_back(fmt::format("{}", least));
  return limits;
}

Comparison compare_curves(const ComparisonTask& task, const ProgressFor& progress_for) {
  const Gaps gaps(task.program);
  Comparison comparison{
      .trace = task.trace, .machine = task.machine.name, .peak_demand = task.program.peak_demand()};
  std::vector<Bytes> bytes;
  for (const std::string& text : task.limits) {
    bytes.push_back(parse_limit(text, task.program));
    if (bytes.size() > 1 && bytes.back() > bytes[bytes.size() - 2])
      throw InputError(fmt::format("--curve: limit '{}' is larger than the one before it", text));
    comparison.limits.push_back({.text = text, .bytes = bytes.back()});
  }
  for (const Planner* planner : task.planners) {
    auto report = [&](std::size_t i) { progress_for(std::string(planner->name), task.limits[i]); };
    const std::vector<JudgedPlan> curve =
        find_curve({task.program, gaps, task.machine, *planner, task.options}, bytes, report);
    for (std::size_t i = 0; i < curve.size(); ++i) {
      check_schedule(curve[i]);
      comparison.limits[i].plans.push_back(
          compared({task.program, gaps, task.machine, bytes[i]}, std::string(planner->name), curve[i]));
    }
  }
  for (ComparedLimit& limit : comparison.limits) add_bounds(task, gaps, limit, comparison);
  return comparison;
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
    add_bounds(task, gaps, limit, comparison);
    comparison.limits.push_back(std::move(limit));
  }
  return comparison;
}

}  // namespace ebb::cli
