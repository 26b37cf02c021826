#include "simulate/replay.h"

#include <gtest/gtest.h>

#include "plan/lower.h"
#include "random_programs.h"
#include "simulate/simulator.h"

namespace ebb {
namespace {

// A random plan that fits, with its steady schedule; nothing if the order did not settle.
struct Scheduled {
  Program program;
  Gaps gaps;
  Machine machine;
  LoweredPlan lowered = {};
  Schedule schedule = {};
  StepResult step = {};
  bool steady = false;

  explicit Scheduled(Random random)
      : program(random_program(random)), gaps(program), machine(random_machine(random)) {
    const Bytes limit = random_limit(random, program);
    if (Lowerer(program, gaps).lower(random_plan(random, program, gaps), limit, lowered)) return;
    Timeline timeline;
    step = Simulator(program, gaps, machine).run(lowered, limit, timeline, schedule);
    steady = !step.infeasible && step.periodic && !schedule.commands.empty();
  }

  Nanoseconds replayed(std::span<const Nanoseconds> op_times) const {
    return replay(program, gaps, machine, lowered, schedule, {.op_times = op_times});
  }
};

TEST(Replay, WithTheSameDurationsTakesTheSimulatedTime) {
  int steady = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Scheduled s{Random(seed)};
    if (!s.steady) continue;
    ++steady;
    EXPECT_EQ(s.replayed({}), s.step.step_time) << "seed " << seed;
  }
  EXPECT_GT(steady, 500);
}

TEST(Replay, WithOtherDurationsStillEndsAndNeverTakesLessThanItsOps) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed + 500'000);
    const Scheduled s{Random(seed)};
    if (!s.steady) continue;
    std::vector<Nanoseconds> op_times;
    Nanoseconds compute = 0;
    for (const Op& op : s.program.ops()) {
      op_times.push_back(s.machine.op_time(op) * random.between(50, 200) / 100);
      compute += op_times.back();
    }
    const Nanoseconds time = s.replayed(op_times);
    EXPECT_GE(time, compute) << "seed " << seed;
    EXPECT_LT(time, Nanoseconds{1} << 50) << "seed " << seed << " never ends";
  }
}

}  // namespace
}  // namespace ebb
