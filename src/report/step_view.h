// One way to run a training step — plain, or by a plan — with everything the report shows of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "layout/fit_plan.h"
#include "planners/judge.h"
#include "report/timed_residencies.h"
#include "runtime/prepared_plan.h"
#include "runtime/status.h"
#include "simulate/bounds.h"

namespace ebb::report {

// What a run of the program was seen to do.
struct MeasuredStep {
  Nanoseconds step_time = 0;
  Timeline timeline = {};  // of one planned iteration; no load curve
  std::vector<IterationStatistics> iterations = {};
};

struct StepView {
  std::string title;         // "without a limit", or the planner
  std::string planner = {};  // empty: nothing moves
  Machine machine = {};
  Bytes limit = 0;  // 0: none
  LoweredPlan lowered = {};
  StepResult step = {};
  Timeline timeline = {};
  std::optional<Nanoseconds> bound = {};  // no plan is faster
  // Of one steady iteration; empty if no steady order was found.
  std::vector<TimedResidency> residencies = {};
  bool packed = false;              // the residencies have offsets
  bool within_limit = true;         // by address
  Bytes footprint = 0;              // unmanaged bytes included
  Nanoseconds time_by_address = 0;  // fitted to the limit by address, if that had to be done; 0: it had not
  double planning_seconds = 0;
  std::int64_t evaluations = 0;
  std::vector<Finding> findings = {};
  std::vector<SearchRound> rounds = {};
  std::optional<MeasuredStep> measured = {};
};

// Nothing moves, no limit.
StepView plain_view(const Program& program, const Gaps& gaps, Machine machine);

// The plan as it was judged, packed. Where no layout of it fits the limit, it is fitted by address: shown
// like that if this takes no longer, and otherwise as judged, with the time that fitting costs. `make_plan`
// plans for less where packing needs room; without it the plan stays as it is. REQUIRES: the judged plan is
// feasible.
StepView planned_view(const PlanningProblem& problem, const std::string& planner, const JudgedPlan& judged,
                      const layout::MakePlan& make_plan = nullptr);

// The plan that a runtime follows, as it was fitted; `limit` is the device's.
StepView followed_view(const Program& program, const PreparedPlan& plan, const Machine& machine, Bytes limit);

// One sentence for people: what this step spends its extra time on, or why it has none.
std::string what_limits(const Program& program, const StepView& view);

}  // namespace ebb::report
