// A plan made ready to be followed: judged, ordered, packed, every place known.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "layout/planned_offsets.h"
#include "planners/judge.h"
#include "runtime/plan_function.h"

namespace ebb {

struct PreparedPlan {
  explicit PreparedPlan(const Program& program) : gaps(program) {}
  // Finds the offsets: above the ground, where that leaves room for the footprint. REQUIRES: everything that
  // the layout is of is there.
  void lie_above(Bytes ground, const Program& program, Bytes capacity);

  Gaps gaps;
  std::string planner;
  LoweredPlan lowered = {};
  Schedule schedule = {};
  StepResult step = {};
  Timeline timeline = {};
  Nanoseconds predicted_step = 0;  // with the waits for addresses
  Bytes ground = 0;                // of the arena, when it was made
  layout::PlannedOffsets offsets = {};
  layout::ArenaProblem arena = {};  // what the offsets are of, for those who draw it
  layout::Layout layout = {};
  double planning_seconds = 0;
};

// Seconds since the preparation began, planners and packing together.
struct PreparationTime {
  double search = 0;  // for the first search; 0: none ends early. One for less begins with the plan before
                      // it, and gets less
  double enough = 0;  // then searches are as short as can be, and whatever fits is taken; 0: never
  double most = 30;   // then no new attempt begins, unless nothing fits: a few for much less
};

struct PreparationOptions {
  std::string planner = {};      // empty: default_planner()
  PlanFunction plan = {};        // instead of a planner by name
  Bytes capacity = 0;            // of the arena
  Bytes ground = 0;              // of it, at the low end: taken for good, by what counts as unmanaged
  PlannerOptions planning = {};  // its deadline is not used
  PreparationTime time = {};
  std::int64_t packing_steps = 40'000;       // of each attempt, as layout/fit_plan.h has them
  std::function<double()> seconds_now = {};  // a clock; empty: the steady one
};

// What there is: the plan, or a sentence that says why there is none.
struct Preparation {
  std::shared_ptr<const PreparedPlan> plan = {};
  std::string refusal = {};
  bool cut_short = false;  // more time could give a better plan
};

// The name of the planner that serves when nobody chose one.
std::string default_planner();

// Nothing is planned where nothing has to move. Unmanaged bytes and a small pool for what no plan knows stay
// free above the packed footprint. Throws InputError if there is no planner of that name.
Preparation prepare_plan(const Program& program, const Machine& machine, const PreparationOptions& options);

}  // namespace ebb
