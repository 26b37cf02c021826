// A plan that keeps the limit by load, made to keep it by address: packed, its copies retimed, or made again
// for less (layout/fit_plan.h).
#pragma once

#include "layout/fit_plan.h"
#include "planners/planner.h"

namespace ebb {

struct PackedPlan {
  bool fits = false;  // if not, only the plan is meaningful: the one given
  Plan plan = {};
  Nanoseconds step_time = 0;  // with every address decided
  Bytes footprint = 0;        // unmanaged bytes included
  Bytes planned_for = 0;      // the limit it was made for, less than the problem's if it was made again
};

// `step_time`: of the plan by load. `make_plan` makes a plan for less; nullptr: the plan stays the one given.
// No deadline: 0. The same with one thread and with two.
PackedPlan pack_plan(const PlanningProblem& problem, const Plan& plan, Nanoseconds step_time,
                     const layout::MakePlan& make_plan, double deadline_seconds, int threads = 1);

}  // namespace ebb
