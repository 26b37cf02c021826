#include "layout/residencies.h"

#include <gtest/gtest.h>

#include "layout/packing.h"
#include "layout/planned_offsets.h"
#include "layout/validate.h"
#include "plan/lower.h"
#include "random_programs.h"
#include "simulate/simulator.h"

namespace ebb::layout {
namespace {

bool alive_at(const Buffer& buffer, Time t, Time period) {
  return (buffer.begin <= t && t < buffer.end) || (buffer.begin <= t + period && t + period < buffer.end);
}

// A random plan that fits, or nothing.
struct Planned {
  Program program;
  Gaps gaps;
  Bytes limit = 0;
  LoweredPlan lowered = {};
  Schedule schedule = {};
  bool fits = false;

  explicit Planned(std::uint64_t seed) : Planned(Random(seed)) {}
  explicit Planned(Random random) : program(random_program(random)), gaps(program) {
    const Machine machine = random_machine(random);
    limit = random_limit(random, program);
    if (Lowerer(program, gaps).lower(random_plan(random, program, gaps), limit, lowered)) return;
    Timeline timeline;
    fits = !Simulator(program, gaps, machine).run(lowered, limit, timeline, schedule).infeasible &&
           !schedule.commands.empty();
  }
};

TEST(Residencies, OfAProgramAreItsBlocksAndWorkspacesAndTheirLoadIsItsDemand) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Program program = random_program(random);
    const ArenaProblem arena = arena_problem(program);
    EXPECT_EQ(peak_load(arena.problem, 1), program.peak_demand() - program.info().unmanaged)
        << "seed " << seed;
  }
}

TEST(Residencies, UnderAPlanNeverNeedMoreThanTheLimit) {
  int planned = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Planned p(seed);
    if (!p.fits) continue;
    ++planned;
    const ArenaProblem arena = arena_problem(p.program, p.gaps, p.lowered, p.schedule);
    EXPECT_LE(peak_load(arena.problem, 1) + p.program.info().unmanaged, p.limit) << "seed " << seed;
  }
  EXPECT_GT(planned, 100);
}

TEST(Residencies, CoverEveryOperandOfEveryOpWhenItRuns) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Planned p(seed);
    if (!p.fits) continue;
    const ArenaProblem arena = arena_problem(p.program, p.gaps, p.lowered, p.schedule);
    const Time period = *arena.problem.period;
    for (std::size_t t = 0; t < p.schedule.commands.size(); ++t) {
      const Command& command = p.schedule.commands[t];
      if (command.kind != CommandKind::run) continue;
      for (const Access& access : p.program.op(command.op).accesses) {
        if (p.program.block(access.block).bytes == 0) continue;
        int holders = 0;
        for (std::size_t i = 0; i < arena.residencies.size(); ++i)
          holders += arena.residencies[i].block == access.block &&
                     alive_at(arena.problem.buffers[i], static_cast<Time>(t), period);
        EXPECT_GE(holders, 1) << "seed " << seed << " op " << command.op << " block " << access.block;
      }
    }
  }
}

TEST(Residencies, PackedAndReadBackGiveEveryBirthReturnAndReplayAnOffset) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Planned p(seed);
    if (!p.fits) continue;
    const ArenaProblem arena = arena_problem(p.program, p.gaps, p.lowered, p.schedule);
    const Layout layout = pack(arena.problem, {.alignment = 1, .budget = 1000});
    ASSERT_TRUE(layout.fits);
    EXPECT_TRUE(validate(arena.problem, layout, {.alignment = 1}).empty()) << "seed " << seed;
    const PlannedOffsets offsets = planned_offsets(p.program, p.gaps, p.lowered, arena, layout);
    for (OpIndex i = 0; i < p.program.op_count(); ++i)
      for (std::size_t nth = 0; nth < p.program.op(i).births.size(); ++nth)
        EXPECT_NE(offsets.births.offset(i, static_cast<int>(nth)), kUnplanned) << "seed " << seed;
    for (const Swap& swap : p.lowered.swaps) {
      if (p.gaps[swap.gap].kind == GapKind::trailing) continue;
      EXPECT_NE(offsets.returns[static_cast<std::size_t>(swap.gap)], kUnplanned) << "seed " << seed;
    }
    EXPECT_EQ(offsets.footprint, layout.footprint);
  }
}

}  // namespace
}  // namespace ebb::layout
