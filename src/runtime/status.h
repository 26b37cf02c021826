// How a Device is doing: what it follows, how well, and what each iteration cost.
#pragma once

#include <array>
#include <string>

#include "simulate/timeline.h"

namespace ebb {

enum class Mode : char {
  observe,   // record only: nothing moves, OutOfMemory when the limit is reached
  reactive,  // blocks leave when room is wanted and return when they are used
  planned,   // as reactive, until the iteration is known and planned; then as the plan says
};

struct IterationStatistics {
  std::int64_t number = 0;     // from 0, since the iteration was found
  Mode mode = Mode::reactive;  // planned: a plan was followed all through
  Nanoseconds step_time = 0;   // on the compute engine
  // By StallCause, from waits measured so far; `issue` is not. Under a plan mostly one in eight is.
  std::array<Nanoseconds, kStallCauses> stalls = {};
  Bytes bytes_out = 0;
  Bytes bytes_in = 0;
  std::int64_t replays = 0;
  std::int64_t evictions = 0;  // blocks that left, planned or not
  Bytes peak_arena = 0;
  std::int64_t deviations = 0;  // where the program did something else
  std::int64_t left_out = 0;    // commands of the plan that could not be carried out
  bool operator==(const IterationStatistics&) const = default;
};

struct DeviceStatus {
  Mode mode = Mode::reactive;  // now
  bool iteration_known = false;
  bool planning = false;         // in the background
  bool improving = false;        // a better plan is looked for, or about to be followed
  std::string planner = {};      // of the plan that is followed or ready; empty: none
  std::string refusal = {};      // why there is no plan, if one was asked for
  std::string fingerprint = {};  // of the iteration
  std::int64_t ops_per_iteration = 0;
  Nanoseconds predicted_step = 0;  // of the plan
  std::int64_t predicted_replays = 0;
  Nanoseconds plain_step = 0;     // the same without a limit, as predicted
  Nanoseconds measured_step = 0;  // of the last iteration that is measured
  std::int64_t iterations = 0;    // seen since one was first found
  std::int64_t planned_iterations = 0;
  std::int64_t plans_made = 0;
  std::int64_t plans_reused = 0;  // taken from the cache
  std::int64_t plans_taken = 0;   // from another who runs the same iteration
  std::int64_t plans_found = 0;   // that an earlier run kept
  std::int64_t plans_kept = 0;    // for later runs, as often as one could be written
  std::int64_t deviations = 0;
  std::int64_t fallbacks = 0;  // from planned to reactive
  std::int64_t left_out = 0;
  std::array<Nanoseconds, kStallCauses> stalls = {};  // so far
  double planning_seconds = 0;                        // of the last plan
};

// One iteration, as it was to be and as it was.
struct StepComparison {
  Nanoseconds predicted_step = 0;
  Nanoseconds measured_step = 0;
  Timeline predicted;
  Timeline measured;  // no load curve
};

}  // namespace ebb
