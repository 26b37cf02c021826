// A planner is a pure function: a problem and options in, a plan or the reason why there is none out.
// All planners are listed by `planners()` and judged by the same simulator (planners/judge.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "machine/machine.h"
#include "plan/lowered.h"
#include "plan/plan.h"

namespace ebb {

struct PlanningProblem {
  const Program& program;
  const Gaps& gaps;
  const Machine& machine;
  Bytes limit = 0;
};

struct PlanningProgress {
  double fraction = 0;   // of the budget, 0 … 1
  Nanoseconds best = 0;  // step time of the best plan so far; 0 = none yet
  std::int64_t evaluations = 0;
};

// Results are the same for the same seed and evaluation budget; a deadline may cut a search at any point.
struct PlannerOptions {
  std::uint64_t seed = 1;
  double deadline_seconds = 0;   // 0 = none
  std::int64_t evaluations = 0;  // simulations a search may spend; 0 = the planner's default
  int threads = 1;
  bool allow_swap = true;
  bool allow_recompute = true;
  std::function<void(const PlanningProgress&)> progress =
      nullptr;  // called now and then, from the calling thread
};

struct PlanningResult {
  Plan plan;
  std::optional<Infeasible> infeasible = std::nullopt;  // if set, the plan is meaningless
  std::int64_t evaluations = 0;
};

struct Planner {
  std::string_view name;
  std::string_view source;   // the paper or "ours"
  std::string_view summary;  // one line
  PlanningResult (*plan)(const PlanningProblem&, const PlannerOptions&);
};

std::span<const Planner> planners();
// Throws InputError that lists the names if there is none of this name.
const Planner& find_planner(std::string_view name);

PlanningResult plan_keep(const PlanningProblem& problem, const PlannerOptions& options);
PlanningResult plan_ondemand(const PlanningProblem& problem, const PlannerOptions& options);

}  // namespace ebb
