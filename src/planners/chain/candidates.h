// The best of several plans, by simulation.
#pragma once

#include "planners/evaluator.h"
#include "planners/planner.h"

namespace ebb {

class Candidates {
 public:
  explicit Candidates(const PlanningProblem& problem) : evaluate_(problem) {}

  // Nothing if the plan can be carried out, which is then the best so far or not.
  std::optional<Infeasible> consider(const Plan& plan);
  bool found() const { return best_time_ > 0; }
  Nanoseconds best_time() const { return best_time_; }
  // The best plan, or why the last one failed. REQUIRES: one was considered.
  PlanningResult result() const;

 private:
  Evaluator evaluate_;
  Plan best_;
  Nanoseconds best_time_ = 0;
  std::optional<Infeasible> failure_;
};

// Where there is nothing to decide: the step fits as it is, or swapping is not allowed.
std::optional<PlanningResult> plan_without_swaps(const PlanningProblem& problem,
                                                 const PlannerOptions& options);

}  // namespace ebb
