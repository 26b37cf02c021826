// When each residency of an arena is there, in the time of a simulated step.
#pragma once

#include <vector>

#include "layout/packing.h"
#include "layout/residencies.h"
#include "plan/schedule.h"
#include "simulate/timeline.h"

namespace ebb::report {

// [begin, end) in nanoseconds of the step; one that is there over the boundary ends after the step does.
struct TimedResidency {
  layout::Residency residency;
  Bytes bytes = 0;
  Bytes offset = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// REQUIRES: the arena is that of the schedule, the schedule and the timeline of one simulation, and the
// layout of the arena (or empty: every offset is 0).
std::vector<TimedResidency> timed_residencies(const layout::ArenaProblem& arena, const layout::Layout& layout,
                                              const Schedule& schedule, const Timeline& timeline,
                                              Nanoseconds step_time);

}  // namespace ebb::report
