// How a plan does when ops take other times than recorded: its order is kept, as a runtime would, and only
// the times change.
#pragma once

#include "planners/planner.h"

namespace ebb {

struct Robustness {
  double mean = 0;  // step time ÷ plain step time under the same durations, over all cases
  double worst = 0;
  bool operator==(const Robustness&) const = default;
};

// All ops slower by `spread`, all faster, and `cases` draws in which each op is off by up to `spread`.
// Nothing if the plan cannot be carried out or has no steady order.
std::optional<Robustness> judge_robustness(const PlanningProblem& problem, const Plan& plan, double spread,
                                           int cases, std::uint64_t seed);

}  // namespace ebb
