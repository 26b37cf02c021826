// From a planner's name to a judged plan: plan, lower, simulate, validate. The one way everybody asks for a
// result.
#pragma once

#include <string>
#include <vector>

#include "plan/validate.h"
#include "planners/planner.h"
#include "simulate/simulator.h"

namespace ebb {

struct JudgedPlan {
  std::optional<Infeasible> infeasible;
  LoweredPlan lowered;
  StepResult step;
  Timeline timeline;
  Schedule schedule;
  std::vector<Violation> violations;  // of the schedule; empty means valid
  double planning_seconds = 0;
  std::int64_t evaluations = 0;
  std::vector<Finding> findings;
  std::vector<SearchRound> rounds;
  std::string knowledge;
};

// Throws InputError if an option names a setting that the planner does not have.
JudgedPlan plan_and_judge(const Planner& planner, const PlanningProblem& problem,
                          const PlannerOptions& options);
// Judges a plan that exists already.
JudgedPlan judge(const PlanningProblem& problem, const Plan& plan);

}  // namespace ebb
