// Every planner at every limit on every machine for one training step: the numbers behind `ebb compare`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/comparison.h"

namespace ebb::cli {

using report::ComparedLimit;
using report::ComparedPlan;
using report::Comparison;

struct ComparisonTask {
  std::string trace;
  const Program& program;
  const Machine& machine;
  const std::vector<std::string>& limits;
  const std::vector<const Planner*>& planners;
  const PlannerOptions& options;
};

// `progress_for(planner, limit)` is asked once per plan for what to call while it is searched.
using ProgressFor =
    std::function<std::function<void(const PlanningProgress&)>(const std::string&, const std::string&)>;

// What a comparison keeps of a judged plan.
ComparedPlan compared(const PlanningProblem& problem, const std::string& planner, const JudgedPlan& judged);

Comparison compare(const ComparisonTask& task, const ProgressFor& progress_for);
// The same, each planner's limits one after the other, a search from its neighbour's plan
// (planners/limit_curve.h). REQUIRES: the task's limits descend.
Comparison compare_curves(const ComparisonTask& task, const ProgressFor& progress_for);
// From 95 % of the peak demand in steps of 5 % down to the smallest that any plan can keep.
std::vector<std::string> curve_limits(const Program& program);

}  // namespace ebb::cli
