// The plans a search has tried: the fastest that fits or, if none does, the least that any of them needs.
#pragma once

#include <chrono>

#include "planners/evaluator.h"

namespace ebb {

class BestPlan {
 public:
  // Tries keeping everything first: with that, a step that fits is left alone.
  BestPlan(const PlanningProblem& problem, const PlannerOptions& options);

  // Is there nothing left to look for: the step fits as it is, nothing may be computed again, or the budget
  // is spent?
  bool done() const;
  // Does the plan fit?
  bool consider(const Plan& plan);
  // Findings: "smallest need", the least that a considered plan needs.
  PlanningResult take();

 private:
  Evaluator evaluate_;
  const PlannerOptions& options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  PlanningResult result_;
  Nanoseconds best_ = 0;
  Bytes smallest_need_ = 0;
  bool fits_as_it_is_ = false;
};

}  // namespace ebb
