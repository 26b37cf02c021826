#include "report/timed_residencies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "layout/residencies.h"
#include "simulate/random_case.h"
#include "simulate/simulator.h"

namespace ebb::report {
namespace {

// Bytes resident from a time on, as the residencies have it.
std::map<Nanoseconds, Bytes> load_of(const std::vector<TimedResidency>& residencies, Nanoseconds step,
                                     Bytes base) {
  std::map<Nanoseconds, Bytes> changes{{0, base}};
  for (const TimedResidency& entry : residencies) {
    if (entry.end <= entry.begin) continue;
    if (entry.end > step) {
      changes[0] += entry.bytes;
      changes[entry.end - step] -= entry.bytes;
      changes[entry.begin] += entry.bytes;
    } else {
      changes[entry.begin] += entry.bytes;
      changes[entry.end] -= entry.bytes;
    }
  }
  Bytes level = 0;
  std::map<Nanoseconds, Bytes> load;
  for (const auto& [time, change] : changes) load[time] = level += change;
  load.erase(load.lower_bound(step), load.end());
  return load;
}

Bytes at(const std::map<Nanoseconds, Bytes>& load, Nanoseconds time) {
  return std::prev(load.upper_bound(time))->second;
}

// Then the timeline has only an estimate of when such a copy ends.
bool shares_a_link_over_the_boundary(const Machine& machine, const Timeline& timeline, Nanoseconds step) {
  return (machine.bandwidth_both > 0 || machine.exclusive) &&
         std::any_of(timeline.spans.begin(), timeline.spans.end(),
                     [&](const Span& span) { return span.lane == Lane::out && span.end > step; });
}

// Under random plans, on random machines: what the residencies add up to is what the simulator counted.
TEST(TimedResidencies, AddUpToTheLoadOfTheSimulation) {
  const int cases = std::getenv("EBB_SOAK") != nullptr ? 40'000 : 1'500;
  int seen = 0;
  for (int seed = 1; seed <= cases; ++seed) {
    const RandomCase c = random_case(static_cast<std::uint64_t>(seed));
    if (!c.lowered) continue;
    Simulator simulator(c.program, c.gaps, c.machine);
    Timeline timeline;
    Schedule schedule;
    const StepResult step = simulator.run(*c.lowered, c.limit, timeline, schedule);
    if (step.infeasible || !step.periodic || schedule.commands.empty() || step.step_time == 0) continue;
    if (shares_a_link_over_the_boundary(c.machine, timeline, step.step_time)) continue;
    const layout::ArenaProblem arena = layout::arena_problem(c.program, c.gaps, *c.lowered, schedule);
    if (arena.meets_itself) continue;
    const auto residencies = timed_residencies(arena, {}, schedule, timeline, step.step_time);
    const auto load = load_of(residencies, step.step_time, c.program.info().unmanaged);
    for (const LoadPoint& point : timeline.load) {
      if (point.time < 0 || point.time >= step.step_time) continue;
      ASSERT_EQ(at(load, point.time), point.bytes) << "seed " << seed << ", time " << point.time << "\n"
                                                   << describe(c);
    }
    ++seen;
  }
  EXPECT_GT(seen, cases / 4);
}

}  // namespace
}  // namespace ebb::report
