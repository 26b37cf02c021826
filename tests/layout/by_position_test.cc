#include "layout/by_position.h"

#include <gtest/gtest.h>

#include "layout/validate.h"
#include "literal_programs.h"
#include "plan/lower.h"
#include "plan/validate.h"
#include "random_programs.h"
#include "simulate/simulator.h"

namespace ebb::layout {
namespace {

// A block `big` of 8 bytes that is idle while `small` (8 bytes) lives: with big swapped, both have offset 0.
//   op      0     1     2     3
//   big     W . . . . . . . . R
//   small         W     R
struct Handover {
  Program program = literal_program({op({writes(0)}), op({writes(1)}), op({reads(1)}), op({reads(0)})},
                                    {local(8, 0, 3), local(8, 1, 2)});
  Gaps gaps{program};
  Machine machine = {};
  LoweredPlan lowered = {};

  Handover() {
    machine.bandwidth_in = machine.bandwidth_out = 1'000'000'000;  // a byte per nanosecond
    Plan plan = Plan::keep_all(gaps);
    plan[gaps.find(0, 0)] = swap_it();
    EXPECT_FALSE(Lowerer(program, gaps).lower(plan, 8, lowered));
  }
};

TEST(ByPosition, CopiesTakeNoTimeAndAreListedWhereTheirBlockLeavesAndMayReturn) {
  const Handover h;
  const PositionSchedule by_position = schedule_by_position(h.program, h.gaps, h.lowered);
  std::vector<CommandKind> kinds;
  for (const Command& command : by_position.schedule.commands) kinds.push_back(command.kind);
  EXPECT_EQ(kinds,
            (std::vector{CommandKind::run, CommandKind::start_out, CommandKind::release, CommandKind::run,
                         CommandKind::run, CommandKind::start_in, CommandKind::run}));
  EXPECT_EQ(by_position.start, (std::vector<std::size_t>{0, 3, 4, 5, 7}));
}

TEST(ByPosition, WhoGetsTheAddressesOfABlockThatLeavesWaitsForItsCopy) {
  const Handover h;
  const PositionSchedule by_position = schedule_by_position(h.program, h.gaps, h.lowered);
  const ArenaProblem arena = arena_problem(h.program, h.gaps, h.lowered, by_position.schedule);
  const Layout layout = pack(arena.problem, {.alignment = 1});
  EXPECT_EQ(layout.footprint, 8);
  const AddressGates gates = address_gates(h.program, h.gaps, h.lowered, by_position.schedule, arena, layout);
  EXPECT_EQ(gates.items[1], 1);      // small waits for the first copy-out of this iteration
  EXPECT_EQ(gates.ins[0], kNoGate);  // big returns where small has died
  Timeline timeline;
  Schedule schedule;
  const StepResult step =
      Simulator(h.program, h.gaps, h.machine).run(h.lowered, 8, gates, timeline, schedule);
  EXPECT_EQ(step.step_time, 40 + 8 + 8);
  EXPECT_EQ(step.peak_demand, 8);
  ASSERT_EQ(timeline.stalls.size(), 2u);
  EXPECT_EQ(timeline.stalls[0], (Stall{StallCause::room, 1, 10, 18}));
}

TEST(ByPosition, BlocksReturnAsEarlyAsTheirAddressesAreFree) {
  const Handover h;
  const PositionSchedule by_position = schedule_by_position(h.program, h.gaps, h.lowered);
  const ArenaProblem arena = arena_problem(h.program, h.gaps, h.lowered, by_position.schedule);
  const GapId gap = h.gaps.find(0, 0);
  for (const bool apart : {false, true}) {
    Layout layout{.fits = true, .offsets = std::vector<Bytes>(arena.residencies.size(), 0), .footprint = 16};
    for (std::size_t i = 0; i < arena.residencies.size(); ++i)
      if (arena.residencies[i].block == 1) layout.offsets[i] = apart ? 8 : 0;
    Plan plan = h.lowered.plan;
    return_early(h.program, h.gaps, h.lowered, by_position, arena, layout, plan);
    EXPECT_EQ(plan[gap].in_from, apart ? 1 : 3);
  }
}

TEST(ByPosition, RandomPlansKeepTheirLayoutInTimeAndNeverGetStuck) {
  int checked = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const Program program = random_program(random);
    const Gaps gaps(program);
    const Machine machine = random_machine(random);
    const Bytes limit = random_limit(random, program);
    Plan plan = random_plan(random, program, gaps);
    for (Decision& decision : plan.decisions)
      decision.out_after = decision.out_order = decision.in_order = kAuto;
    LoweredPlan lowered;
    if (Lowerer(program, gaps).lower(plan, limit, lowered)) continue;
    const PositionSchedule by_position = schedule_by_position(program, gaps, lowered);
    const ArenaProblem arena = arena_problem(program, gaps, lowered, by_position.schedule);
    EXPECT_LE(peak_load(arena.problem, 1) + program.info().unmanaged, limit) << "seed " << seed;
    const Layout layout = pack(arena.problem, {.alignment = 1, .budget = 1000});
    plan = lowered.plan;
    return_early(program, gaps, lowered, by_position, arena, layout, plan);
    LoweredPlan early;
    const Bytes all = layout.footprint + program.info().unmanaged;
    ASSERT_FALSE(Lowerer(program, gaps).lower(plan, all, early)) << "seed " << seed;
    const PositionSchedule again = schedule_by_position(program, gaps, early);
    const ArenaProblem early_arena = arena_problem(program, gaps, early, again.schedule);
    const std::optional<Layout> early_layout = transfer(arena, layout, early_arena, 1);
    ASSERT_TRUE(early_layout) << "seed " << seed;
    EXPECT_TRUE(validate(early_arena.problem, *early_layout, {.alignment = 1}).empty()) << "seed " << seed;
    const AddressGates gates =
        address_gates(program, gaps, early, again.schedule, early_arena, *early_layout);
    Timeline timeline;
    Schedule schedule;
    const StepResult step = Simulator(program, gaps, machine).run(early, all, gates, timeline, schedule);
    if (step.infeasible && step.infeasible->obstacle == Obstacle::host_full) continue;
    ASSERT_FALSE(step.infeasible) << "seed " << seed << ": " << step.infeasible->sentence(program);
    EXPECT_LE(step.peak_demand, all) << "seed " << seed;
    if (schedule.commands.empty()) continue;
    const ArenaProblem timed = arena_problem(program, gaps, early, schedule);
    const std::optional<Layout> in_time = transfer(early_arena, *early_layout, timed, 1);
    ASSERT_TRUE(in_time) << "seed " << seed;
    for (const Violation& violation : validate(timed.problem, *in_time, {.alignment = 1}))
      ADD_FAILURE() << "seed " << seed << ": " << violation.message;
    for (const ebb::Violation& violation : ebb::validate(program, gaps, early, schedule, all))
      ADD_FAILURE() << "seed " << seed << ": " << violation.sentence;
    ++checked;
  }
  EXPECT_GT(checked, 200);
}

TEST(Transfer, GivesNothingIfTheResidenciesDiffer) {
  const Handover h;
  const ArenaProblem plain = arena_problem(h.program);
  const PositionSchedule by_position = schedule_by_position(h.program, h.gaps, h.lowered);
  const ArenaProblem planned = arena_problem(h.program, h.gaps, h.lowered, by_position.schedule);
  EXPECT_FALSE(transfer(plain, pack(plain.problem, {.alignment = 1}), planned, 1));
}

}  // namespace
}  // namespace ebb::layout
