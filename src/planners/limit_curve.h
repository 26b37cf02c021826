// Step time against limit. A search is warm-started from the neighbouring limit, first downwards, where the
// plan for more memory is completed, then upwards, where the plan for less is valid as it is: no point of a
// search is slower than a point with less memory.
#pragma once

#include <functional>
#include <vector>

#include "planners/judge.h"

namespace ebb {

struct CurveTask {
  const Program& program;
  const Gaps& gaps;
  const Machine& machine;
  const Planner& planner;
  const PlannerOptions& options;
};

// One plan per limit. `report(i)` is called after limit i was planned downwards; it may be empty.
// REQUIRES: limits descend.
std::vector<JudgedPlan> find_curve(const CurveTask& task, const std::vector<Bytes>& limits,
                                   const std::function<void(std::size_t)>& report = {});

}  // namespace ebb
