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
#include "runtime/shared_plan.h"
#include "trace/error.h"
#include "trace/gzip.h"

namespace ebb::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kLayers = 6;
constexpr Bytes kBytes = 8;  // of an activation, in the runner's units
constexpr Bytes kCapacity = 4 * kBytes * 512;
constexpr Bytes kLeak = 256;  // too small to be managed

Program chain(Nanoseconds time = 10'000) { return chain_of_layers(kLayers, kBytes, time); }

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
}

TEST_F(KeptPlansTest, AFileOfAnotherVersionIsNotThere) {
  const Program program = chain();
  const Preparation made = prepare_plan(program, machine, {.planner = "ebb", .capacity = kCapacity});
  const KeptPlans plans(folder);
  ASSERT_TRUE(plans.keep("key", {made.plan, {program, machine}, true}, kCapacity));
  ASSERT_TRUE(plans.find("key", program, kCapacity, 0));
  std::string text = read_maybe_gzipped(files().front().string());
  const std::string version = "\"version\":1}";
  ASSERT_TRUE(text.ends_with(version)) << text.substr(text.size() - 40);
  std::ofstream(files().front()) << text.replace(text.size() - version.size(), version.size(),
                                                 "\"version\":2}");
  EXPECT_FALSE(plans.find("key", program, kCapacity, 0));
}

TEST_F(KeptPlansTest, WhatWasSearchedForIsNotReplacedByWhatWasNot) {
  const Program program = chain(), slower = chain(30'000);
  const Preparation made = prepare_plan(program, machine, {.planner = "ebb", .capacity = kCapacity});
  const KeptPlans plans(folder);
  const auto kept_time = [&] {
    return plans.find("key", program, kCapacity, 0)->step.program.op(0).duration;
  };
  ASSERT_TRUE(plans.keep("key", {made.plan, {program, machine}, false}, kCapacity));
  EXPECT_FALSE(plans.find("key", program, kCapacity, 0)->searched);
  ASSERT_TRUE(plans.keep("key", {made.plan, {slower, machine}, true}, kCapacity));
  EXPECT_EQ(kept_time(), 30'000);
  ASSERT_TRUE(plans.keep("key", {made.plan, {program, machine}, false}, kCapacity));
  EXPECT_EQ(kept_time(), 30'000);
  ASSERT_TRUE(plans.keep("key", {made.plan, {program, machine}, true}, kCapacity));
  EXPECT_EQ(kept_time(), 10'000);
}

TEST_F(KeptPlansTest, WhatDoesNotHoldAnyMoreIsReplacedHoweverLongItWasSearchedFor) {
  const Program program = chain_of_layers(kLayers, kBytes * 512, 10'000);
  const Preparation larger = prepare_plan(program, machine, {.planner = "ebb", .capacity = 2 * kCapacity});
  ASSERT_TRUE(larger.plan) << larger.refusal;
  const Preparation made = prepare_plan(program, machine, {.planner = "ebb", .capacity = kCapacity});
  ASSERT_TRUE(made.plan) << made.refusal;
  const KeptPlans plans(folder);
  ASSERT_TRUE(plans.keep("key", {larger.plan, {program, machine}, true}, 2 * kCapacity));
  ASSERT_FALSE(plans.find("key", program, kCapacity, 0));
  ASSERT_TRUE(plans.keep("key", {made.plan, {program, machine}, false}, kCapacity));
  EXPECT_TRUE(plans.find("key", program, kCapacity, 0));
}

TEST_F(KeptPlansTest, WhereTheGroundLeavesNoRoomThePlanLiesOnNone) {
  const Program program = chain();
  const Preparation made = prepare_plan(program, machine, {.planner = "ebb", .capacity = kCapacity});
  const KeptPlans plans(folder);
  ASSERT_TRUE(plans.keep("key", {made.plan, {program, machine}, true}, kCapacity));
  const Bytes footprint = made.plan->layout.footprint;
  ASSERT_LT(footprint, kCapacity);
  const auto ends_at = [&](Bytes ground) {
    return plans.find("key", program, kCapacity, ground)->plan->offsets.footprint;
  };
  EXPECT_EQ(ends_at(0), footprint);
  EXPECT_EQ(ends_at(kCapacity - footprint), kCapacity);
  EXPECT_EQ(ends_at(kCapacity - footprint + 512), footprint);
}

TEST_F(KeptPlansTest, OfManyFilesThoseUsedLongestAgoGo) {
  const Program program = chain();
  const Preparation made = prepare_plan(program, machine, {.planner = "ebb", .capacity = kCapacity});
  const KeptPlans plans(folder);
  ASSERT_TRUE(plans.keep("old", {made.plan, {program, machine}, true}, kCapacity));
  const fs::file_time_type now = fs::file_time_type::clock::now();
  const auto make = [&](const std::string& name, std::chrono::hours age) {
    std::ofstream(folder + "/" + name) << "some text";
    fs::last_write_time(folder + "/" + name, now - age);
  };
  for (int i = 1; i <= 300; ++i) make(std::to_string(i) + ".plan.json", std::chrono::hours(i));
  make("a.plan.json.123-1", std::chrono::hours(2));  // left by a process that was killed
  make("b.plan.json.124-1", std::chrono::hours(0));  // being written
  make("somebody's notes", std::chrono::hours(1000));
  fs::last_write_time(folder + "/old.plan.json", now - std::chrono::hours(400));
  ASSERT_TRUE(plans.find("old", program, kCapacity, 0));  // used, so it is not old
  ASSERT_TRUE(plans.keep("new", {made.plan, {program, machine}, true}, kCapacity));
  EXPECT_EQ(files().size(), 256u + 2);
  const auto is_there = [&](const std::string& name) { return fs::exists(folder + "/" + name); };
  EXPECT_TRUE(is_there("new.plan.json") && is_there("old.plan.json") && is_there("254.plan.json"));
  EXPECT_FALSE(is_there("255.plan.json") || is_there("a.plan.json.123-1"));
  EXPECT_TRUE(is_there("b.plan.json.124-1") && is_there("somebody's notes"));
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

// Others are there, and this run plans for them.
class PlansForOthers final : public PlanExchange {
 public:
  bool has_others() override { return true; }
  ExchangeAnswer ask(const std::string&, const std::string&, const std::function<bool()>&) override {
    return {.plan_here = true};
  }
  void give(const std::string&, const std::string& plan) override { given = plan; }
  bool may_follow(const std::string&) override { return true; }

  std::string given;
};

struct RunOptions {
  Bytes capacity = kCapacity;
  bool host_is_ahead = false;
  Nanoseconds then_takes = 0;  // ops, under the plan, for a second look
  Bytes leaked = 0;            // before the iteration was found, and as much ground of the arena
  std::shared_ptr<PlanExchange> exchange = {};
};

// Runs of the chain, each with a planner of its own; the folder is all they have in common.
class KeptByRuns : public Keeping {
 protected:
  // Ops take so long each time.
  PlanningNews run(Nanoseconds op_time, const RunOptions& run_options = {}) {
    NullBackend backend;
    Device device(backend, {.limit = 2 * kMiB, .smallest_managed = 512, .host_slab = 64 * kKiB, .clock = [] {
                              return Nanoseconds{0};
                            }});
    const Program program = chain();
    ProgramRunner runner(device, program);
    for (Bytes left = run_options.leaked; left > 0; left -= kLeak) device.malloc(kLeak);
    for (int i = 0; i < 10; ++i) runner.iterate();
    Trace trace = device.trace();
    for (TraceEvent& event : trace.events)
      if (event.kind == EventKind::exec) event.duration = op_time;
    searches = 0;
    BackgroundOptions options{.capacity = run_options.capacity,
                              .smallest_managed = 512,
                              .allow_recompute = true,
                              .host_is_ahead = run_options.host_is_ahead,
                              .quick_seconds = 60,  // whatever else the machine does, no search is cut short
                              .deadline_seconds = 120,
                              .exchange = run_options.exchange,
                              .kept = std::make_shared<const KeptPlans>(folder)};
    options.plan = [this](const PlanningProblem& problem, const PlannerOptions& planning) {
      ++searches;
      began_with_one = planning.start.has_value();
      return find_planner("ebb").plan(problem, planning);
    };
    BackgroundPlanner planner(options);
    planner.start(std::move(trace), machine, run_options.leaked);
    const PlanningNews news = last_of(planner);
    if (run_options.then_takes == 0 || !news.preparation.plan) return news;
    FollowedPlan followed{
        .plan = news.preparation.plan, .iteration = news.iteration, .fingerprint = news.fingerprint};
    followed.seen.ops.add(std::vector(program.ops().size(), run_options.then_takes));
    planner.start_again(followed, machine, run_options.leaked);
    return last_of(planner);
  }

  static PlanningNews last_of(BackgroundPlanner& planner) {
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
  EXPECT_FALSE(first.found);
  EXPECT_GT(searches, 0);
  const PlanningNews second = run(10'100);
  ASSERT_TRUE(second.preparation.plan) << second.preparation.refusal;
  EXPECT_TRUE(second.found);
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
  const PlanningNews first = run(10'000, {.host_is_ahead = true});
  ASSERT_TRUE(first.preparation.plan) << first.preparation.refusal;
  const PlanningNews second = run(30'000, {.host_is_ahead = true});
  ASSERT_TRUE(second.preparation.plan) << second.preparation.refusal;
  EXPECT_TRUE(second.found);
  EXPECT_EQ(searches, 0);
  EXPECT_EQ(second.iteration->program.op(0).duration, 10'000);
}

TEST_F(KeptByRuns, WhatASecondLookFoundIsKept) {
  run(10'000, {.host_is_ahead = true, .then_takes = 30'000});
  const PlanningNews next = run(30'000);
  EXPECT_TRUE(next.found);
  EXPECT_EQ(searches, 0);
}

TEST_F(KeptByRuns, WhereLinksAreSlowerThePlanIsWhereASearchBegins) {
  machine.bandwidth_out = machine.bandwidth_in = 10'000'000'000;
  const PlanningNews first = run(10'000);
  ASSERT_TRUE(first.preparation.plan) << first.preparation.refusal;
  machine.bandwidth_out = machine.bandwidth_in = 100'000'000;
  run(10'000);
  EXPECT_GT(searches, 0);
  EXPECT_TRUE(began_with_one);
}

TEST_F(KeptByRuns, APlanThatWasNotSearchedForToTheEndIsWhereASearchBegins) {
  run(10'000);
  ASSERT_EQ(files().size(), 1u);
  std::string text = read_maybe_gzipped(files().front().string());
  const std::size_t at = text.find("\"searched\":true");
  ASSERT_NE(at, std::string::npos);
  std::ofstream(files().front()) << text.replace(at, 15, "\"searched\":false");
  for (const bool host_is_ahead : {false, true}) {
    std::ofstream(files().front()) << text;
    run(10'000, {.host_is_ahead = host_is_ahead});
    EXPECT_GT(searches, 0);
    EXPECT_TRUE(began_with_one);
  }
}

TEST_F(KeptByRuns, WhoPlansForOthersGivesThemThePlan) {
  const auto exchange = std::make_shared<PlansForOthers>();
  const PlanningNews first = run(10'000, {.exchange = exchange});
  ASSERT_TRUE(first.preparation.plan) << first.preparation.refusal;
  EXPECT_GT(searches, 0);
  const std::string given = std::exchange(exchange->given, "");
  EXPECT_TRUE(run(10'000, {.exchange = exchange}).found);
  EXPECT_EQ(searches, 0);
  const Program& program = first.iteration->program;
  const std::optional<Preparation> taken = decode_preparation(exchange->given, program, kCapacity, 0);
  const std::optional<Preparation> before = decode_preparation(given, program, kCapacity, 0);
  ASSERT_TRUE(taken && taken->plan && before && before->plan);
  EXPECT_EQ(taken->plan->lowered.plan, before->plan->lowered.plan);
}

// What a program holds besides its iteration depends on when that was found.
TEST_F(KeptByRuns, WhatLiesBesideTheIterationDoesNotCostThePlan) {
  const PlanningNews first = run(10'000, {.leaked = 2 * kLeak});
  ASSERT_TRUE(first.preparation.plan) << first.preparation.refusal;
  for (const Bytes leaked : {Bytes{0}, 2 * kLeak}) {
    const PlanningNews second = run(10'000, {.leaked = leaked});
    EXPECT_EQ(second.iteration->program.info().unmanaged, leaked);
    EXPECT_TRUE(second.found);
    EXPECT_EQ(searches, 0);
    ASSERT_TRUE(second.preparation.plan);
    EXPECT_EQ(second.preparation.plan->ground, leaked);
  }
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(KeptByRuns, WhereLinksAreOthersNobodyWaitsForASecondLook) {
  run(10'000, {.host_is_ahead = true});
  machine.bandwidth_in /= 2;
  run(10'000, {.host_is_ahead = true});
  EXPECT_GT(searches, 0);
  EXPECT_TRUE(began_with_one);
}

TEST_F(KeptByRuns, AnotherLimitHasAPlanOfItsOwn) {
  run(10'000);
  const PlanningNews other = run(10'000, {.capacity = kCapacity + kBytes * 512});
  EXPECT_FALSE(other.found);
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
                            .kept_plans = folder,
                            .host_is_ahead = true});
    ProgramRunner runner(device, program);
    EXPECT_TRUE(run_until_planned(runner, device, 50));
    for (int i = 0; i < 10; ++i) runner.iterate();
    EXPECT_EQ(runner.wrong_reads(), 0);
    return device.status();
  };
  EXPECT_EQ(follow().plans_found, 0);
  EXPECT_EQ(follow().plans_found, 1);
}

}  // namespace
}  // namespace ebb::testing
