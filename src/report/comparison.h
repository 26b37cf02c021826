// Planners side by side at several limits: the numbers behind `ebb compare`, its page and its figure.
#pragma once

#include <string>
#include <vector>

#include "planners/judge.h"
#include "simulate/bounds.h"

namespace ebb::report {

// One planner at one limit.
struct ComparedPlan {
  std::string planner;
  std::string reason = {};  // why there is no plan; empty if there is one
  StepResult step = {};
  double planning_seconds = 0;
  std::int64_t evaluations = 0;
  std::vector<SearchRound> rounds = {};

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

}  // namespace ebb::report
