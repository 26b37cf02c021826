// Every planner at every limit on every machine for one training step: the numbers behind `ebb compare`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "planners/judge.h"
#include "simulate/bounds.h"

namespace ebb::cli {

// One planner at one limit.
struct ComparedPlan {
  std::string planner;
  std::string reason = {};  // why there is no plan; empty if there is one
  StepResult step = {};
  double planning_seconds = 0;
  std::int64_t evaluations = 0;

  bool feasible() const { return reason.empty(); }
};

struct ComparedLimit {
  std::string text;  // as the user wrote it
  Bytes bytes = 0;
  Bounds bounds = {};
  std::vector<ComparedPlan> plans = {};  // one per planner, in the order asked for
};

struct Comparison {
  std::string trace;  // path
  std::string machine;
  Bytes peak_demand = 0;
  Nanoseconds plain_time = 0;
  std::vector<ComparedLimit> limits = {};
};

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

Comparison compare(const ComparisonTask& task, const ProgressFor& progress_for);

}  // namespace ebb::cli
