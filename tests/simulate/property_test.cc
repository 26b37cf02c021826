// Random programs × plans × machines × limits: the fast simulator does what the reference does, event for
// event, and the validator has nothing to say. EBB_SOAK=1 runs a hundred times as many; EBB_SEED=n replays
// one case.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>

#include "plan/validate.h"
#include "simulate/random_case.h"
#include "simulate/reference_simulator.h"
#include "simulate/simulator.h"

namespace ebb {
namespace {

std::string describe(const Timeline& timeline) {
  std::ostringstream text;
  for (const Span& s : timeline.spans)
    text << (s.lane == Lane::compute ? (s.replay ? "replay " : "op ")
             : s.lane == Lane::out   ? "out g"
                                     : "in g")
         << (s.lane == Lane::compute ? s.op : s.gap) << " [" << s.start << "," << s.end << ") ";
  text << "\nstalls: ";
  for (const Stall& s : timeline.stalls)
    text << static_cast<int>(s.cause) << "@" << s.op << " [" << s.start << "," << s.end << ") ";
  text << "\nload: ";
  for (const LoadPoint& p : timeline.load) text << p.time << ":" << p.bytes << " ";
  return text.str() + "\n";
}

void expect_same_step(const StepResult& fast, const StepResult& slow) {
  ASSERT_EQ(fast.infeasible.has_value(), slow.infeasible.has_value());
  if (fast.infeasible) {
    EXPECT_EQ(fast.infeasible->obstacle, slow.infeasible->obstacle);
    EXPECT_EQ(fast.infeasible->op, slow.infeasible->op);
    EXPECT_EQ(fast.infeasible->needed, slow.infeasible->needed);
    EXPECT_EQ(fast.infeasible->available, slow.infeasible->available);
    return;
  }
  EXPECT_EQ(fast.step_time, slow.step_time);
  EXPECT_EQ(fast.plain_time, slow.plain_time);
  EXPECT_EQ(fast.iterations, slow.iterations);
  EXPECT_EQ(fast.periodic, slow.periodic);
  EXPECT_EQ(fast.stalls, slow.stalls);
  EXPECT_EQ(fast.recompute_time, slow.recompute_time);
  EXPECT_EQ(fast.bytes_out, slow.bytes_out);
  EXPECT_EQ(fast.bytes_in, slow.bytes_in);
  EXPECT_EQ(fast.peak_load, slow.peak_load);
  EXPECT_EQ(fast.peak_demand, slow.peak_demand);
  EXPECT_EQ(fast.host_peak, slow.host_peak);
}

// What became of the cases: a generator that only makes trivial ones would prove nothing.
std::map<std::string, int> tally;

void check_case(std::uint64_t seed) {
  const RandomCase c = random_case(seed);
  if (!c.lowered) {
    ++tally["refused by lower"];
    return;
  }
  for (const Violation& violation : validate(c.program, c.gaps, *c.lowered))
    ADD_FAILURE() << "plan: " << violation.sentence;
  const ReferenceResult slow = reference_simulate(c.program, c.gaps, c.machine, *c.lowered, c.limit);
  for (const std::string& text : slow.disagreements) ADD_FAILURE() << text;
  Simulator simulator(c.program, c.gaps, c.machine);
  Timeline timeline;
  Schedule schedule;
  const StepResult fast = simulator.run(*c.lowered, c.limit, timeline, schedule);
  expect_same_step(fast, slow.step);
  if (fast.infeasible) {
    ++tally[fast.infeasible->obstacle == Obstacle::stuck ? "stuck" : "does not fit"];
    return;
  }
  EXPECT_EQ(simulator.run(*c.lowered, c.limit), fast) << "a second run differs";
  EXPECT_EQ(timeline, slow.timeline) << "fast:\n"
                                     << describe(timeline) << "slow:\n"
                                     << describe(slow.timeline);
  EXPECT_EQ(schedule, slow.schedule) << "fast: " << describe(schedule.commands)
                                     << "slow: " << describe(slow.schedule.commands);
  ++tally[fast.periodic ? "periodic" : "not periodic"];
  if (fast.bytes_out > 0) ++tally["swaps"];
  if (fast.recompute_time > 0) ++tally["replays"];
  if (fast.step_time > fast.plain_time) ++tally["slower than plain"];
  if (schedule.commands.empty()) return;
  for (const Violation& violation : validate(c.program, c.gaps, *c.lowered, slow.schedule, c.limit))
    ADD_FAILURE() << "schedule: " << violation.sentence << "\n" << describe(schedule.commands);
}

TEST(RandomCases, FastSimulatorIsTheReferenceAndTheValidatorIsSilent) {
  if (const char* seed = std::getenv("EBB_SEED")) {
    const auto value = std::strtoull(seed, nullptr, 10);
    std::cout << describe(random_case(value));
    check_case(value);
    return;
  }
  const std::uint64_t cases = std::getenv("EBB_SOAK") ? 300'000 : 3'000;
  for (std::uint64_t seed = 1; seed <= cases && !HasFailure(); ++seed) {
    check_case(seed);
    if (HasFailure()) std::cout << "replay with EBB_SEED=" << seed << "\n" << describe(random_case(seed));
  }
  for (const auto& [what, count] : tally) std::cout << what << ": " << count << "\n";
  if (HasFailure()) return;
  EXPECT_GT(tally["periodic"], static_cast<int>(cases / 2));
  EXPECT_GT(tally["swaps"], static_cast<int>(cases / 4));
  EXPECT_GT(tally["replays"], static_cast<int>(cases / 20));
}

}  // namespace
}  // namespace ebb
