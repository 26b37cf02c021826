#include "runtime/kept_plans.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "backend/null/null_backend.h"
#include "literal_programs.h"
#include "runtime/background_planner.h"
#include "runtime/program_runner.h"
#include "trace/error.h"

namespace ebb::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kLayers = 6;
constexpr Bytes kBytes = 8;  // of an activation, in the runner's units
constexpr Bytes kCapacity = 4 * kBytes * 512;

// Activations of a chain: born going forward, read going backward.
Program chain(Nanoseconds time = 10'000) {
  std::vector<Op> ops;
  std::vector<Block> blocks;
  for (OpIndex i = 0; i < kLayers; ++i) {
    std::vector<Access> accesses{writes(i)};
    if (i > 0) accesses.push_back(reads(i - 1));
    ops.push_back(op(accesses, time));
    ops.back().name = "forward" + std::to_string(i);
    blocks.push_back(local(kBytes, i, 2 * kLayers - 1 - i));
  }
  for (OpIndex i = kLayers; i-- > 0;) {
    ops.push_back(op({reads(i)}, time));
    ops.back().name = "backward" + std::to_string(i);
  }
  return literal_program(std::move(ops), std::move(blocks));
}

class Keeping : public ::testing::Test {
 protected:
  Keeping()
      : folder((fs::path(::testing::TempDir()) /
                (std::string("ebb-kept-") + ::testing::UnitTest::GetInstance()->current_test_info()->name()))
                   .string()) {
    fs::remove_all(folder);
  }
  ~Keeping() override { fs::remove_all(folder); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path());
    return found;
  }

  std::string folder;
  Machine machine{.name = "links", .bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000};
};

using KeptPlansTest = Keeping;

TEST_F(KeptPlansTest, WhatWasKeptIsFoundAgainWithTheTimesItWasMadeFor) {
  const Program program = chain();
  const Preparation made = prepare_plan(program, machine, {.planner = "ebb", .capacity = 4 * kBytes * 512});
  ASSERT_TRUE(made.plan) << made.refusal;
  const KeptPlans plans(folder);
  EXPECT_FALSE(plans.find("key", program, kCapacity, 0));
  ASSERT_TRUE(plans.keep("key", {made.plan, {program, machine}, true}, kCapacity));
  const std::optional<KeptPlan> found = KeptPlans(folder).find("key", chain(77), kCapacity, 512);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->searched);
  EXPECT_EQ(found->step.program.op(0).duration, 10'000);
  EXPECT_EQ(found->step.machine, machine);
  EXPECT_EQ(found->plan->lowered.plan, made.plan->lowered.plan);
  EXPECT_EQ(found->plan->layout.offsets, made.plan->layout.offsets);
  EXPECT_EQ(found->plan->step.plain_time, made.plan->step.plain_time);
  EXPECT_EQ(found->plan->predicted_step, made.plan->predicted_step);
  EXPECT_EQ(found->plan->ground, 512);
}

TEST_F(KeptPlansTest, AFileThatIsNoneOfOursIsNotThere) {
  const Program program = chain();
  const Preparation made = prepare_plan(program, machine, {.planner = "ebb", .capacity = kCapacity});
  const KeptPlans plans(folder);
  ASSERT_TRUE(plans.keep("key", {made.plan, {program, machine}, true}, kCapacity));
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files().front();
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_FALSE(plans.find("key", program, kCapacity, 0));
  std::ofstream(file) << R"({"version": 999})";
  EXPECT_FALSE(plans.find("key", program, kCapacity, 0));
}

TEST_F(KeptPlansTest, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(folder) << "a file";
  try {
    const KeptPlans plans(folder + "/below");
    FAIL() << "a folder below a file";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find(folder + "/below"), std::string::npos) << error.what();
  }
}

TEST_F(KeptPlansTest, AFolderThatWentAwayIsNoError) {
  const Program program = chain();
  const Preparation made = prepare_plan(program, machine, {.planner = "ebb", .capacity = kCapacity});
  const KeptPlans plans(folder);
  fs::remove_all(folder);
  EXPECT_FALSE(plans.keep("key", {made.plan, {program, machine}, true}, kCapacity));
  EXPECT_FALSE(plans.find("key", program, kCapacity, 0));
}

// Runs of the chain, each with a planner of its own; the folder is all they have in common.
class KeptByRuns : public Keeping {
 protected:
  // Ops take so long each time.
  PlanningNews run(Nanoseconds op_time, bool host_is_ahead = false, Bytes capacity = kCapacity) {
    NullBackend backend;
    Device device(backend, {.limit = 2 * kMiB, .smallest_managed = 512, .host_slab = 64 * kKiB, .clock = [] {
                              return Nanoseconds{0};
                            }});
    const Program program = chain();
    ProgramRunner runner(device, program);
    for (int i = 0; i < 10; ++i) runner.iterate();
    Trace trace = device.trace();
    for (TraceEvent& event : trace.events)
      if (event.kind == EventKind::exec) event.duration = op_time;
    searches = 0;
    BackgroundOptions options{.capacity = capacity,
                              .smallest_managed = 512,
                              .allow_recompute = true,
                              .host_is_ahead = host_is_ahead,
                              .kept = std::make_shared<const KeptPlans>(folder)};
    options.plan = [this](const PlanningProblem& problem, const PlannerOptions& planning) {
      ++searches;
      began_with_one = planning.start.has_value();
      return find_planner("ebb").plan(problem, planning);
    };
    BackgroundPlanner planner(options);
    planner.start(std::move(trace), machine, 0);
    PlanningNews news;
    while (!news.done)
      if (!planner.poll(news)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return news;
  }

  int searches = 0;             // in the last run
  bool began_with_one = false;  // the last of them, with a plan
};

TEST_F(KeptByRuns, TheNextRunFollowsThePlanWithoutASearch) {
  const PlanningNews first = run(10'000);
  ASSERT_TRUE(first.preparation.plan) << first.preparation.refusal;
  EXPECT_FALSE(first.kept);
  EXPECT_GT(searches, 0);
  const PlanningNews second = run(10'100);
  ASSERT_TRUE(second.preparation.plan) << second.preparation.refusal;
  EXPECT_TRUE(second.kept);
  EXPECT_EQ(searches, 0);
  EXPECT_EQ(second.preparation.plan->lowered.plan, first.preparation.plan->lowered.plan);
  EXPECT_EQ(second.preparation.plan->predicted_step, first.preparation.plan->predicted_step);
}

TEST_F(KeptByRuns, WhereOpsTakeOtherTimesThePlanIsWhereASearchBegins) {
  const PlanningNews first = run(10'000);
  ASSERT_TRUE(first.preparation.plan) << first.preparation.refusal;
  const PlanningNews second = run(30'000);
  ASSERT_TRUE(second.preparation.plan) << second.preparation.refusal;
  EXPECT_GT(searches, 0);
  EXPECT_TRUE(began_with_one);
  EXPECT_EQ(second.iteration->program.op(0).duration, 30'000);
  EXPECT_EQ(second.preparation.plan->step.plain_time, 3 * first.preparation.plan->step.plain_time);
  run(30'000);
  EXPECT_EQ(searches, 0) << "the times were not kept";
}

// Times on demand are not those under the plan, which is looked at while it is followed.
TEST_F(KeptByRuns, WhereThePlanIsLookedAtAgainItIsFollowedFirst) {
  const PlanningNews first = run(10'000, true);
  ASSERT_TRUE(first.preparation.plan) << first.preparation.refusal;
  const PlanningNews second = run(30'000, true);
  ASSERT_TRUE(second.preparation.plan) << second.preparation.refusal;
  EXPECT_TRUE(second.kept);
  EXPECT_EQ(searches, 0);
  EXPECT_EQ(second.iteration->program.op(0).duration, 10'000);
}

TEST_F(KeptByRuns, AnotherLimitHasAPlanOfItsOwn) {
  run(10'000);
  const PlanningNews other = run(10'000, false, kCapacity + kBytes * 512);
  EXPECT_FALSE(other.kept);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(KeptByRuns, ADeviceFollowsThePlanOfAnEarlierOne) {
  const Program program = chain();
  const auto follow = [&] {
    NullBackend backend;
    Device device(backend, {.limit = kCapacity,
                            .mode = Mode::planned,
                            .smallest_managed = 512,
                            .host_slab = 64 * kKiB,
                            .clock = [] { return Nanoseconds{0}; },
                            .kept_plans = folder});
    ProgramRunner runner(device, program);
    EXPECT_TRUE(run_until_planned(runner, device, 50));
    for (int i = 0; i < 10; ++i) runner.iterate();
    EXPECT_EQ(runner.wrong_reads(), 0);
    return device.status();
  };
  EXPECT_EQ(follow().plans_kept, 0);
  const DeviceStatus second = follow();
  EXPECT_EQ(second.plans_kept, 1);
  EXPECT_EQ(second.plans_made, 0);
}

}  // namespace
}  // namespace ebb::testing
