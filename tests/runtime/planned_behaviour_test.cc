// What planned mode does, behaviour by behaviour, on a chain of layers: forward, backward, update.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "backend/null/null_backend.h"
#include "runtime/program_runner.h"

namespace ebb::testing {
namespace {

constexpr int kLayers = 6;

// op i < L:  act[i] from act[i-1] and weight[i];  op 2L-1-i: reads act[i-1], weight[i] and changes it.
Program chain(int layers = kLayers, Bytes bytes = 8) {
  std::vector<Block> blocks;
  std::vector<Op> ops(static_cast<std::size_t>(2 * layers));
  for (int i = 0; i < layers; ++i) blocks.push_back({.bytes = 2, .lifetime = Lifetime::persistent});
  for (int i = 0; i < layers; ++i)
    blocks.push_back({.bytes = bytes, .birth = i, .death = std::min(2 * layers - 1, 2 * layers - 1 - i)});
  for (int i = 0; i < layers; ++i) {
    const BlockId weight = i, act = layers + i;
    Op& forward = ops[static_cast<std::size_t>(i)];
    Op& backward = ops[static_cast<std::size_t>(2 * layers - 1 - i)];
    forward = {.name = "forward" + std::to_string(i), .duration = 1000};
    forward.accesses = {{.block = weight, .reads = true}, {.block = act, .writes = true}};
    if (i > 0) forward.accesses.push_back({.block = act - 1, .reads = true});
    backward = {.name = "backward" + std::to_string(i), .duration = 2000};
    backward.accesses = {{.block = act, .reads = true}, {.block = weight, .reads = true, .writes = true}};
  }
  return Program::build({.name = "chain"}, std::move(ops), std::move(blocks));
}

class PlannedChain : public ::testing::Test {
 protected:
  DeviceOptions options(Bytes limit) {
    return {.limit = limit, .mode = Mode::planned, .smallest_managed = 512, .host_slab = 64 * kKiB};
  }
  Program program = chain();
  NullBackend backend;
};

TEST_F(PlannedChain, WithRoomNothingMovesAndThePlanIsFollowed) {
  Device device(backend, options(100 * kKiB));
  ProgramRunner runner(device, program);
  ASSERT_TRUE(run_until_planned(runner, device, 50));
  runner.iterate();
  const Bytes out = device.statistics().bytes_out;
  for (int i = 0; i < 10; ++i) runner.iterate();
  EXPECT_EQ(device.statistics().bytes_out, out);
  EXPECT_EQ(device.status().planner, "keep");
  EXPECT_EQ(device.status().deviations, 0);
  EXPECT_GE(device.status().planned_iterations, 10);
  EXPECT_EQ(device.status().ops_per_iteration, 2 * kLayers);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

TEST_F(PlannedChain, UnderALimitCopiesAreThePlansAndNothingIsLeftOut) {
  Device device(backend, options(40 * 512));
  ProgramRunner runner(device, program);
  ASSERT_TRUE(run_until_planned(runner, device, 50));
  for (int i = 0; i < 10; ++i) runner.iterate();
  const auto iterations = device.iterations();
  ASSERT_GE(iterations.size(), 5u);
  const IterationStatistics& last = iterations.back();
  EXPECT_EQ(last.mode, Mode::planned);
  EXPECT_EQ(last.left_out, 0);
  EXPECT_EQ(last.deviations, 0);
  EXPECT_GT(last.bytes_in, 0);
  EXPECT_LE(last.peak_arena, 40 * 512);
  EXPECT_EQ(last.bytes_in, iterations[iterations.size() - 2].bytes_in);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

TEST_F(PlannedChain, WhatIsPinnedForGoodAtTheLowEndIsInNobodysWay) {
  Device device(backend, options(44 * 512));
  const Handle kept = device.malloc(4 * 512);
  const Pin pin = device.pin(kept, PinFor::writing);
  ProgramRunner runner(device, program);
  ASSERT_TRUE(run_until_planned(runner, device, 50));
  for (int i = 0; i < 3; ++i) runner.iterate();
  const std::size_t before = device.surprises().size();
  for (int i = 0; i < 3; ++i) runner.iterate();
  EXPECT_EQ(device.surprises().size(), before);
  EXPECT_EQ(device.iterations().back().left_out, 0);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

TEST_F(PlannedChain, SurprisesNameTheOp) {
  Device device(backend, options(40 * 512));
  ProgramRunner runner(device, program);
  ASSERT_TRUE(run_until_planned(runner, device, 50));
  runner.iterate();
  const std::size_t before = device.surprises().size();
  const Handle block = device.malloc(512);
  device.exec({.name = "greedy"}, {}, {&block, 1}, [](ExecContext& c) { c.free(c.malloc(24 * 512)); });
  const std::vector<Surprise> surprises = device.surprises();
  ASSERT_GT(surprises.size(), before) << "somebody had to leave";
  EXPECT_EQ(surprises.back().op, "greedy");
  EXPECT_GT(surprises.back().bytes, 0);
  runner.iterate();
  EXPECT_EQ(runner.wrong_reads(), 0);
}

TEST_F(PlannedChain, AnUnknownOpRunsInPlaceAndThePlanGoesOn) {
  Device device(backend, options(40 * 512));
  ProgramRunner runner(device, program);
  ASSERT_TRUE(run_until_planned(runner, device, 50));
  runner.iterate({.one_more_after = 3});
  EXPECT_EQ(device.status().mode, Mode::planned);
  EXPECT_EQ(device.status().deviations, 1);
  runner.iterate();
  runner.iterate();
  EXPECT_EQ(device.iterations().back().deviations, 0);
  EXPECT_EQ(device.status().fallbacks, 0);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

TEST_F(PlannedChain, AnOpLeftOutIsJumpedOver) {
  Device device(backend, options(40 * 512));
  ProgramRunner runner(device, program);
  ASSERT_TRUE(run_until_planned(runner, device, 50));
  runner.iterate({.leave_out = 2 * kLayers - 3});
  EXPECT_EQ(device.status().mode, Mode::planned);
  EXPECT_EQ(device.status().deviations, 1);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

TEST_F(PlannedChain, AnotherIterationIsPlannedAndTheFirstComesBackFromTheCache) {
  Device device(backend, options(40 * 512));
  ProgramRunner first(device, program);
  ASSERT_TRUE(run_until_planned(first, device, 50));
  const std::string fingerprint = device.status().fingerprint;
  first.finish();
  const Program shorter = chain(4, 9);
  ProgramRunner second(device, shorter);
  for (int i = 0; i < 400 && device.status().fingerprint == fingerprint; ++i)
    run_until_planned(second, device, 2);
  ASSERT_TRUE(run_until_planned(second, device, 100));
  EXPECT_NE(device.status().fingerprint, fingerprint);
  EXPECT_GE(device.status().fallbacks, 1);
  second.finish();
  const std::int64_t made = device.status().plans_made;
  ProgramRunner third(device, program);
  for (int i = 0; i < 400 && device.status().fingerprint != fingerprint; ++i)
    run_until_planned(third, device, 2);
  ASSERT_TRUE(run_until_planned(third, device, 100));
  EXPECT_EQ(device.status().fingerprint, fingerprint);
  EXPECT_EQ(device.status().plans_made, made);
  EXPECT_GE(device.status().plans_reused, 1);
  EXPECT_EQ(first.wrong_reads() + second.wrong_reads() + third.wrong_reads(), 0);
}

TEST_F(PlannedChain, ComparesThePredictedTimelineWithTheMeasured) {
  Device device(backend, options(40 * 512));
  ProgramRunner runner(device, program);
  ASSERT_TRUE(run_until_planned(runner, device, 50));
  for (int i = 0; i < 4; ++i) runner.iterate();
  const std::optional<StepComparison> step = device.comparison();
  ASSERT_TRUE(step);
  const auto ops = [](const Timeline& timeline) {
    return std::count_if(timeline.spans.begin(), timeline.spans.end(),
                         [](const Span& span) { return span.lane == Lane::compute && !span.replay; });
  };
  EXPECT_EQ(ops(step->predicted), 2 * kLayers);
  EXPECT_EQ(ops(step->measured), 2 * kLayers);
  EXPECT_GT(step->predicted_step, 0);
  EXPECT_GT(step->measured_step, 0);
}

TEST_F(PlannedChain, APlannerThatDoesNotExistIsAnError) {
  DeviceOptions wrong = options(40 * 512);
  wrong.planner = "nobody";
  EXPECT_THROW(Device(backend, wrong), std::exception);
}

TEST_F(PlannedChain, SaysWhyThereIsNoPlan) {
  DeviceOptions narrow = options(40 * 512);
  narrow.plan = [](const PlanningProblem& problem, const PlannerOptions&) {
    PlanningResult result;
    result.infeasible.emplace();
    result.infeasible->obstacle = Obstacle::too_large;
    result.infeasible->op = 0;
    result.infeasible->needed = problem.limit + 1;
    return result;
  };
  Device device(backend, narrow);
  ProgramRunner runner(device, program);
  EXPECT_FALSE(run_until_planned(runner, device, 50));
  EXPECT_FALSE(device.status().refusal.empty());
  EXPECT_EQ(device.status().mode, Mode::reactive);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

// Both the iteration and its plan are news when an op comes that is not in it: where the program is, is not
// known yet, but that it iterates is.
TEST_F(PlannedChain, WhoeverHasAPlanKnowsTheIteration) {
  Device device(backend, options(100 * kKiB));
  ProgramRunner runner(device, program);
  const Handle block = device.malloc(kKiB);
  for (int i = 0; i < 50 && device.status().planner.empty(); ++i) {
    runner.iterate();
    if (!device.status().planning) continue;
    while (device.status().planning) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    device.exec({.name = "stranger"}, {}, {&block, 1}, [](ExecContext&) {});
  }
  ASSERT_EQ(device.status().planner, "keep");
  EXPECT_TRUE(device.status().iteration_known);
  EXPECT_EQ(device.status().ops_per_iteration, 2 * kLayers);
  device.free(block);
}

// first(a) … second(b) … third(a) … second(b), and a plan that sends both away in between: its copy of `a`
// behind `first` begins while the program still writes to `a`.
TEST_F(PlannedChain, BytesWrittenThroughAPinSurviveThePlansCopies) {
  DeviceOptions swapping = options(100 * kKiB);
  swapping.plan = [](const PlanningProblem& problem, const PlannerOptions&) {
    Plan plan = Plan::keep_all(problem.gaps);
    for (Decision& decision : plan.decisions) decision.action = Action::swap;
    return PlanningResult{.plan = std::move(plan)};
  };
  Device device(backend, swapping);
  const Handle a = device.malloc(8 * kKiB), b = device.malloc(8 * kKiB);
  for (const Handle block : {a, b}) *device.pin(block, PinFor::writing).data() = std::byte{0};
  int seen = 0;
  const auto add = [&](std::string_view name, Handle block, int value) {
    device.exec({.name = name}, {&block, 1}, {&block, value != 0 ? 1u : 0u}, [&](ExecContext& context) {
      std::byte& byte = *context.data(block);
      seen = static_cast<int>(byte);
      if (value != 0) byte = static_cast<std::byte>(value);
    });
  };
  const auto iterate = [&](bool write_through_a_pin) {
    add("first", a, 1);
    {
      Pin pin = write_through_a_pin ? device.pin(a, PinFor::writing) : Pin();
      add("second", b, 2);
      if (write_through_a_pin) *pin.data() = std::byte{77};
    }
    add("third", a, 0);
    add("second", b, 2);
  };
  for (int i = 0; i < 1000 && device.status().mode != Mode::planned; ++i) {
    iterate(false);
    if (device.status().planning) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(device.status().mode, Mode::planned);
  iterate(false);
  iterate(true);
  add("first", a, 1);
  EXPECT_EQ(seen, 77);
}

std::int64_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident;
}

// A planner that takes all the time it has is asked once more while its first plan is followed.
TEST_F(PlannedChain, APlanMadeInAHurryIsImproved) {
  using std::chrono::milliseconds;
  std::atomic<int> ended = 0;
  std::atomic<bool> may_go_on = false;
  DeviceOptions patient = options(40 * 512);
  patient.planning_seconds = 2.5;
  patient.plan = [&](const PlanningProblem& problem, const PlannerOptions& planning) {
    if (ended == 0)
      std::this_thread::sleep_for(std::chrono::duration<double>(1.1 * planning.deadline_seconds));
    for (planning.progress({}); ended > 0 && !may_go_on; planning.progress({}))
      std::this_thread::sleep_for(milliseconds(1));
    PlanningResult result{.plan = Plan::keep_all(problem.gaps)};
    for (GapId g = 0; g < problem.gaps.count(); ++g)
      if (problem.program.block(problem.gaps[g].block).lifetime == Lifetime::local &&
          problem.gaps[g].kind == GapKind::between)
        result.plan[g] = {.action = Action::swap, .stays = {}};
    ++ended;
    return result;
  };
  Device device(backend, patient);
  ProgramRunner runner(device, program);
  for (int i = 0; i < 20'000 && !device.status().planning; ++i) runner.iterate();
  for (int i = 0; i < 10'000 && device.status().planning; ++i) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_FALSE(device.status().planning) << "although there is a plan to begin with";
  EXPECT_TRUE(device.status().improving);
  may_go_on = true;
  ASSERT_TRUE(run_until_planned(runner, device, 20'000)) << device.status().refusal;
  for (int i = 0; i < 500 && device.status().improving; ++i) {
    runner.iterate();
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_FALSE(device.status().improving) << "although nothing better is under way";
  EXPECT_GE(ended, 2);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

// EBB_SOAK=1: 100,000 iterations.
TEST_F(PlannedChain, DoesNotGrowOverManyIterations) {
  DeviceOptions small = options(40 * 512);
  small.trace_events = 2000;
  small.recipe_steps = 200;
  small.allow_recompute = true;
  Device device(backend, small);
  const Program little = chain(3, 12);
  ProgramRunner runner(device, little);
  const int iterations = std::getenv("EBB_SOAK") ? 100'000 : 3'000;
  for (int i = 0; i < iterations / 10; ++i) runner.iterate();
  const DeviceStatistics before = device.statistics();
  const std::int64_t pages = resident_pages();
  for (int i = 0; i < iterations; ++i) runner.iterate();
  const DeviceStatistics after = device.statistics();
  EXPECT_EQ(after.blocks, before.blocks);
  EXPECT_EQ(after.host_reserved, before.host_reserved);
  EXPECT_LE(after.recorded_steps, 201);
  EXPECT_EQ(runner.wrong_reads(), 0);
  EXPECT_GT(device.status().planned_iterations, iterations / 2);
#ifndef __SANITIZE_ADDRESS__
#ifndef __SANITIZE_THREAD__
  EXPECT_LE(resident_pages(), pages + 1024) << "4 MiB more than after a tenth of it";
#endif
#endif
  std::printf("%d iterations, %lld KiB more\n", iterations,
              static_cast<long long>((resident_pages() - pages) * 4));
}

}  // namespace
}  // namespace ebb::testing
