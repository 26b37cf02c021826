// In planned mode blocks lie where the plan has them, and replays take no more room than it says.
#include <gtest/gtest.h>

#include "backend/null/null_backend.h"
#include "literal_programs.h"
#include "runtime/program_runner.h"

namespace ebb::testing {
namespace {

constexpr Bytes kArenaUnit = 512;

// Planned by `plan`; empty: by the default planner.
DeviceOptions planned_within(Bytes limit, PlanFunction plan = {}) {
  return {.limit = limit,
          .mode = Mode::planned,
          .allow_recompute = true,
          .smallest_managed = kArenaUnit,
          .host_slab = 64 * kKiB,
          .plan = std::move(plan)};
}

// With another block in the way when the first ones come.
void expect_to_settle(const Program& program, const DeviceOptions& options) {
  NullBackend backend;
  Device device(backend, options);
  const Handle first = device.malloc(kArenaUnit);
  ProgramRunner runner(device, program);
  device.free(first);
  ASSERT_TRUE(run_until_planned(runner, device, 50)) << device.status().refusal;
  for (int i = 0; i < 3; ++i) runner.iterate();
  EXPECT_EQ(device.status().left_out, 0);
  EXPECT_TRUE(device.surprises().empty());
  EXPECT_EQ(runner.wrong_reads(), 0);
}

// The last op reads block 0, which lies where the plan wants a part of block 1.
TEST(PlannedPlaces, WhatTheLastOpOfAnIterationUsedSettlesToo) {
  expect_to_settle(literal_program({op({writes(2)}), op({reads(1), reads(2)}), op({reads(0)})},
                                   {persistent(10), persistent(10), local(18, 0, 1)}),
                   planned_within(40 * kArenaUnit));
}

// The last op reads three small blocks, which therefore stay where they are for some ops; others have to go
// where they lie.
TEST(PlannedPlaces, SmallBlocksThatAreUsedAllTheTimeSettleToo) {
  std::vector<Op> ops{op({reads(0), reads(2), reads(4), writes(6)}), op({reads(6)})};
  for (int i = 0; i < 10; ++i) ops.push_back(op({reads(1)}));
  ops.push_back(op({reads(1), reads(3), reads(5)}));
  DeviceOptions options = planned_within(112 * kArenaUnit);
  options.smallest_managed = 40 * kArenaUnit;
  options.small_rest = 8;
  expect_to_settle(literal_program(std::move(ops), {persistent(12), persistent(14), persistent(5), persistent(15),
                                                    persistent(10), persistent(13), local(42, 0, 1)}),
                   options);
}

// Op 0 makes a small block, op 1 a large one of it; then the small one is freed, and the large one is dropped
// until op 4.
TEST(PlannedReplay, KeepsWhatThePlanKeepsAfterTheProgramFreedIt) {
  constexpr Bytes kSmall = 4, kLarge = 20;
  const Program program =
      Program::build({.name = "kept"},
                     {{.name = "small", .duration = 1000, .accesses = {{.block = 0, .writes = true}}},
                      {.name = "large",
                       .duration = 1000,
                       .accesses = {{.block = 0, .reads = true}, {.block = 1, .writes = true}}},
                      {.name = "other", .duration = 1000, .accesses = {{.block = 2, .writes = true}}},
                      {.name = "use other", .duration = 1000, .accesses = {{.block = 2, .reads = true}}},
                      {.name = "use large", .duration = 1000, .accesses = {{.block = 1, .reads = true}}}},
                     {{.bytes = kSmall, .birth = 0, .death = 1},
                      {.bytes = kLarge, .birth = 1, .death = 4},
                      {.bytes = 16, .birth = 2, .death = 3}});
  const PlanFunction plan = [](const PlanningProblem& problem, const PlannerOptions&) {
    PlanningResult result{.plan = Plan::keep_all(problem.gaps)};
    GapId small = -1, large = -1;
    for (GapId g = 0; g < problem.gaps.count(); ++g) {
      const Gap& gap = problem.gaps[g];
      const Bytes bytes = problem.program.block(gap.block).bytes;
      if (bytes == kSmall * kArenaUnit && gap.kind == GapKind::trailing) small = g;
      if (bytes == kLarge * kArenaUnit && gap.kind == GapKind::between) large = g;
    }
    if (small < 0 || large < 0) throw std::logic_error("other gaps than expected");
    result.plan[large] = {.action = Action::recompute, .stays = std::vector<OpRange>{}};
    result.plan[small] = {.action = Action::recompute,
                          .stays = {{{problem.gaps[small].from + 1, problem.gaps[large].to + 1}}}};
    return result;
  };
  NullBackend backend;
  Device device(backend, planned_within(34 * kArenaUnit, plan));
  ProgramRunner runner(device, program);
  ASSERT_TRUE(run_until_planned(runner, device, 50)) << device.status().refusal;
  for (int i = 0; i < 5; ++i) runner.iterate();
  EXPECT_EQ(device.status().predicted_replays, 1);
  EXPECT_EQ(device.iterations().back().replays, 1);
  EXPECT_EQ(device.iterations().back().left_out, 0);
  EXPECT_EQ(runner.wrong_reads(), 0);
  // An iteration that ends early leaves nothing behind.
  const std::int64_t blocks = device.statistics().blocks;
  runner.iterate({.stop_after = 2});
  for (int i = 0; i < 3; ++i) runner.iterate();
  EXPECT_EQ(device.statistics().blocks, blocks);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

// Two small blocks are made of large ones; all four are dropped and the small ones made again for one op. The
// replay has room for one of the large ones at a time.
TEST(PlannedReplay, GivesBackWhatItMadeOnItsWayAsSoonAsThePlanDoes) {
  constexpr Bytes kLarge = 20, kSmall = 4;
  const Program program = literal_program(
      {op({writes(0)}), op({reads(0), writes(1)}), op({writes(2)}), op({reads(2), writes(3)}),
       op({writes(4)}), op({reads(4)}), op({reads(1), reads(3)}), op({reads(0)}), op({reads(2)})},
      {local(kLarge, 0, 7), local(kSmall, 1, 6), local(kLarge, 2, 8), local(kSmall, 3, 6), local(28, 4, 5)});
  const PlanFunction plan = [](const PlanningProblem& problem, const PlannerOptions&) {
    PlanningResult result{.plan = Plan::keep_all(problem.gaps)};
    for (GapId g = 0; g < problem.gaps.count(); ++g)
      if (problem.gaps[g].kind == GapKind::between && problem.gaps[g].to > problem.gaps[g].from + 1)
        result.plan[g] = recompute_it();
    return result;
  };
  NullBackend backend;
  Device device(backend, planned_within(32 * kArenaUnit, plan));
  ProgramRunner runner(device, program);
  ASSERT_TRUE(run_until_planned(runner, device, 50)) << device.status().refusal;
  for (int i = 0; i < 3; ++i) runner.iterate();
  const std::size_t surprises = device.surprises().size();
  for (int i = 0; i < 3; ++i) runner.iterate();
  EXPECT_EQ(device.surprises().size(), surprises);
  EXPECT_EQ(device.status().predicted_replays, 6);
  EXPECT_EQ(device.iterations().back().replays, 6);
  EXPECT_EQ(device.iterations().back().left_out, 0);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

}  // namespace
}  // namespace ebb::testing
