#include "layout/residencies.h"

#include <gtest/gtest.h>

#include "layout/address_waits.h"
#include "layout/packing.h"
#include "layout/planned_offsets.h"
#include "layout/validate.h"
#include "literal_programs.h"
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
  Machine machine = {};
  Bytes limit = 0;
  LoweredPlan lowered = {};
  Schedule schedule = {};
  StepResult step = {};
  bool fits = false;

  explicit Planned(std::uint64_t seed) : Planned(Random(seed)) {}
  explicit Planned(Random random) : program(random_program(random)), gaps(program) {
    machine = random_machine(random);
    limit = random_limit(random, program);
    if (Lowerer(program, gaps).lower(random_plan(random, program, gaps), limit, lowered)) return;
    Timeline timeline;
    step = Simulator(program, gaps, machine).run(lowered, limit, timeline, schedule);
    fits = !step.infeasible && !schedule.commands.empty();
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

// Everything stays but in this gap.
bool lower_one_swap(const Program& program, const Gaps& gaps, GapId gap, LoweredPlan& lowered) {
  Plan plan = Plan::keep_all(gaps);
  plan[gap] = swap_it();
  return !Lowerer(program, gaps).lower(plan, 100, lowered);
}

// The copy of a block that has died still runs when the next iteration bears it again: it is there for more
// than a period, which no single offset can be.
TEST(Residencies, SayWhenABlockMeetsItsOwnLastLife) {
  const Program program =
      literal_program({op({writes(0)}), op({writes(1)})}, {local(6, 0, 1), local(37, 1, 1)});
  const Gaps gaps(program);
  const GapId gap = gaps.find(0, 0);
  LoweredPlan lowered;
  ASSERT_TRUE(lower_one_swap(program, gaps, gap, lowered));
  const Schedule late{.commands = {{.kind = CommandKind::run, .op = 0},
                                   {.kind = CommandKind::release, .gap = gap},
                                   {.kind = CommandKind::start_out, .gap = gap, .ended = 1},
                                   {.kind = CommandKind::run, .op = 1, .ended = 1}}};
  EXPECT_TRUE(arena_problem(program, gaps, lowered, late).meets_itself);
  const Schedule soon{.commands = {{.kind = CommandKind::run, .op = 0},
                                   {.kind = CommandKind::start_out, .gap = gap, .ended = 1},
                                   {.kind = CommandKind::release, .gap = gap, .ended = 1},
                                   {.kind = CommandKind::run, .op = 1, .ended = 1}}};
  EXPECT_FALSE(arena_problem(program, gaps, lowered, soon).meets_itself);
}

// The same for a block that is there at the boundary: born last, read first, its copy over when the next
// iteration begins.
TEST(Residencies, SayWhenABlockThatWrapsMeetsItsOwnLastLife) {
  const Program program = literal_program({op({reads(0)}), op({}), op({writes(0)})}, {wrapping(6, 2, 1)});
  const Gaps gaps(program);
  const GapId gap = gaps.find(0, 0);
  LoweredPlan lowered;
  ASSERT_TRUE(lower_one_swap(program, gaps, gap, lowered));
  const Schedule late{.commands = {{.kind = CommandKind::release, .gap = gap},
                                   {.kind = CommandKind::run, .op = 0},
                                   {.kind = CommandKind::start_out, .gap = gap, .ended = 1},
                                   {.kind = CommandKind::run, .op = 1, .ended = 1},
                                   {.kind = CommandKind::run, .op = 2, .ended = 2}}};
  EXPECT_TRUE(arena_problem(program, gaps, lowered, late).meets_itself);
  const Schedule soon{.commands = {{.kind = CommandKind::run, .op = 0},
                                   {.kind = CommandKind::start_out, .gap = gap, .ended = 1},
                                   {.kind = CommandKind::run, .op = 1, .ended = 1},
                                   {.kind = CommandKind::release, .gap = gap, .ended = 2},
                                   {.kind = CommandKind::run, .op = 2, .ended = 2}}};
  const ArenaProblem arena = arena_problem(program, gaps, lowered, soon);
  EXPECT_FALSE(arena.meets_itself);
  EXPECT_EQ(arena.problem.buffers.size(), 1u);
}

// Its copy begins in the next iteration, and ends in the one after that.
TEST(Residencies, SayWhenABlockIsCopiedThroughItsNextLife) {
  const Program program = literal_program({op({}), op({writes(0)})}, {wrapping(6, 1, 0)});
  const Gaps gaps(program);
  const GapId gap = gaps.find(0, 1);
  LoweredPlan lowered;
  ASSERT_TRUE(lower_one_swap(program, gaps, gap, lowered));
  const Schedule schedule{.commands = {{.kind = CommandKind::release, .gap = gap},
                                       {.kind = CommandKind::start_out, .gap = gap},
                                       {.kind = CommandKind::run, .op = 0},
                                       {.kind = CommandKind::run, .op = 1, .ended = 1}}};
  EXPECT_TRUE(arena_problem(program, gaps, lowered, schedule).meets_itself);
}

// Without reuse of addresses nobody waits for memory; with a tight layout, only for what the schedule has
// already freed.
TEST(AddressWaits, MakeNobodyWaitLongerThanTheSimulationDoes) {
  int replayed = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Planned p(seed);
    // Copies that slow each other or compute down make times depend on more than the order.
    p.machine.exclusive = false;
    p.machine.bandwidth_both = 0;
    p.machine.compute_stretch = {1'000'000, 1'000'000, 1'000'000, 1'000'000};
    if (!p.fits) continue;
    Timeline timeline;
    p.step = Simulator(p.program, p.gaps, p.machine).run(p.lowered, p.limit, timeline, p.schedule);
    if (p.step.infeasible || !p.step.periodic || p.schedule.commands.empty()) continue;
    ++replayed;
    const ArenaProblem arena = arena_problem(p.program, p.gaps, p.lowered, p.schedule);
    const AddressWaits waits = address_waits(arena, pack(arena.problem, {.alignment = 1, .budget = 1000}));
    const Nanoseconds time = replay(p.program, p.gaps, p.machine, p.lowered, p.schedule, {.waits = &waits});
    EXPECT_LE(time, p.step.step_time) << "seed " << seed;
  }
  EXPECT_GT(replayed, 100);
}

TEST(AddressWaits, NameThePreviousHolderOfAnAddress) {
  // Two blocks one after the other at the same place; the second waits for the end of the op that frees the
  // first.
  ArenaProblem arena;
  arena.problem.period = 4;
  arena.problem.buffers = {{.id = 0, .begin = 0, .end = 2, .size = 8},
                           {.id = 1, .begin = 2, .end = 4, .size = 8}};
  arena.residencies = {{.block = 0, .op = 0, .freed_by = 1}, {.block = 1, .op = 2, .freed_by = 3}};
  const Layout layout{.fits = true, .offsets = {0, 0}, .footprint = 8, .load = 8};
  EXPECT_EQ(address_waits(arena, layout), (AddressWaits{{3}, {}, {1}, {}}));
}

}  // namespace
}  // namespace ebb::layout
