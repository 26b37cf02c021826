// A planner is a pure function: a problem and options in, a plan or the reason why there is none out.
// All planners are listed by `planners()` and judged by the same simulator (planners/judge.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// A number of a planner's own that a user may change by name.
struct Setting {
  std::string_view name;
  double value = 0;  // the default
  std::string_view meaning;
};

// Results are the same for the same seed and evaluation budget; a deadline may cut a search at any point.
struct PlannerOptions {
  std::uint64_t seed = 1;
  double deadline_seconds = 0;   // 0 = none
  std::int64_t evaluations = 0;  // simulations a search may spend; 0 = the planner's default
  int threads = 1;
  bool allow_swap = true;
  bool allow_recompute = true;
  std::optional<Plan> start = std::nullopt;  // a search begins there and is never worse; others ignore it
  std::map<std::string, double, std::less<>> settings = {};  // of this planner, by name
  std::string knowledge = {};  // what a planner that learns found out before; see PlanningResult
  std::function<void(const PlanningProgress&)> progress =
      nullptr;  // called now and then, from the calling thread
};

// What a planner found out on the way and people want to see, e.g. the smallest load it can reach.
struct Finding {
  std::string name;
  double value = 0;
  std::string unit;  // "bytes", "ns", or "" for a plain number
  bool operator==(const Finding&) const = default;
};

// One round of a search: step times of the candidates of that round that keep the limit; 0 = none does.
struct SearchRound {
  std::int64_t evaluations = 0;  // so far
  Nanoseconds best = 0;          // so far
  Nanoseconds mean = 0;
  Nanoseconds worst = 0;
  bool operator==(const SearchRound&) const = default;
};

struct PlanningResult {
  Plan plan = {};
  std::optional<Infeasible> infeasible = std::nullopt;  // if set, the plan is meaningless
  std::int64_t evaluations = 0;
  bool cut_short = false;  // for want of time: with more of it there may be a better one
  std::vector<Finding> findings = {};
  std::vector<SearchRound> rounds = {};
  std::string knowledge = {};  // of a planner that learns, as text: for its next problem
};

struct Planner {
  std::string_view name;
  std::string_view source;   // the paper or "ours"
  std::string_view summary;  // one line
  PlanningResult (*plan)(const PlanningProblem&, const PlannerOptions&);
  std::span<const Setting> settings = {};
};

// The value the user gave, or the default.
double value_of(const Setting& setting, const PlannerOptions& options);
// Throws InputError that lists the planner's settings if an option names none of them.
void check_settings(const Planner& planner, const PlannerOptions& options);

// All planners: the families of planners/families.h one after the other, then those registered.
std::span<const Planner> planners();
// For planners that are not part of the core. REQUIRES: called before planners() is used by anyone.
void register_planner(const Planner& planner);
// Throws InputError that lists the names if there is none of this name.
const Planner& find_planner(std::string_view name);

}  // namespace ebb
