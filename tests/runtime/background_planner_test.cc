#include "runtime/background_planner.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backend/null/null_backend.h"
#include "literal_programs.h"
#include "runtime/program_runner.h"

namespace ebb::testing {
namespace {

constexpr int kLayers = 6;
constexpr Bytes kBytes = 64 * kKiB;
constexpr Bytes kSmall = 512;

// Activations of a chain, and a small block beside each; sizes in the runner's units.
Program chain() {
  std::vector<Op> ops;
  std::vector<Block> blocks;
  for (OpIndex i = 0; i < kLayers; ++i) {
    std::vector<Access> accesses{writes(2 * i), writes(2 * i + 1)};
    if (i > 0) accesses.push_back(reads(2 * i - 2));
    ops.push_back(op(accesses, 10'000));
    ops.back().name = "forward" + std::to_string(i);
    blocks.push_back(local(kBytes / 512, i, 2 * kLayers - 1 - i));
    blocks.push_back(local(kSmall / 512, i, 2 * kLayers - 1 - i));
  }
  for (OpIndex i = kLayers; i-- > 0;) {
    ops.push_back(op({reads(2 * i), reads(2 * i + 1)}, 10'000));
    ops.back().name = "backward" + std::to_string(i);
  }
  return literal_program(std::move(ops), std::move(blocks));
}

class BackgroundPlanning : public ::testing::Test {
 protected:
  BackgroundPlanning() {
    for (int i = 0; i < 10; ++i) runner.iterate();
  }
  PlanningNews next(BackgroundPlanner& planner) {
    PlanningNews news;
    while (!planner.poll(news)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return news;
  }
  PlanningNews last(BackgroundPlanner& planner) {
    PlanningNews news = next(planner);
    while (!news.done) news = next(planner);
    return news;
  }
  BackgroundOptions options() const {
    return {.planner = "ebb",
            .capacity = 4 * kBytes + 8 * kSmall,
            .smallest_managed = 512,
            .allow_recompute = true};
  }

  Program program = chain();
  NullBackend backend;
  Device device{backend, {.limit = 2 * kMiB, .smallest_managed = 512, .host_slab = 64 * kKiB}};
  ProgramRunner runner{device, program};
  Machine machine{.name = "slow links", .bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000};
};

TEST_F(BackgroundPlanning, ABetterPlanFollowsAFirstOneThatWasCutShort) {
  BackgroundOptions asked = options();
  asked.quick_seconds = 0.001;
  asked.deadline_seconds = 5;
  std::atomic<int> searches = 0;
  asked.plan = [&searches](const PlanningProblem& problem, const PlannerOptions& planning) {
    const bool quick = planning.deadline_seconds < 1;
    if (quick)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    else
      ++searches;
    return find_planner(quick ? "ondemand" : "ebb").plan(problem, planning);
  };
  BackgroundPlanner planner(asked);
  planner.start(device.trace(), machine, 0);
  PlanningNews first = next(planner);
  while (!first.planned) first = next(planner);
  const PlanningNews better = first.done ? first : last(planner);
  ASSERT_TRUE(first.preparation.plan);
  ASSERT_TRUE(better.preparation.plan);
  EXPECT_GT(searches, 0);
  EXPECT_LE(better.preparation.plan->predicted_step, first.preparation.plan->predicted_step);
}

TEST_F(BackgroundPlanning, TheSearchForABetterPlanLetsTheProgramGoFirst) {
  BackgroundOptions asked = options();
  asked.quick_seconds = 0.001;
  asked.deadline_seconds = 5;
  const auto priority = [] { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); };
  int first = 0, better = 0;
  asked.plan = [&](const PlanningProblem& problem, const PlannerOptions& planning) {
    const bool quick = planning.deadline_seconds < 1;
    if (quick) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    (quick ? first : better) = priority();
    return find_planner("ondemand").plan(problem, planning);
  };
  BackgroundPlanner planner(asked);
  planner.start(device.trace(), machine, 0);
  ASSERT_TRUE(last(planner).preparation.plan);
  EXPECT_EQ(first, priority());
  EXPECT_EQ(better, std::min(priority() + 10, 19));
}

TEST_F(BackgroundPlanning, ASearchEndsWhenItIsClosedAndNoneBeginsAfterwards) {
  BackgroundOptions asked = options();
  std::atomic<bool> searching = false;
  asked.plan = [&](const PlanningProblem& problem, const PlannerOptions& planning) {
    for (searching = true;; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      planning.progress({});  // throws when it is to stop
    return find_planner("ebb").plan(problem, planning);
  };
  BackgroundPlanner planner(asked);
  planner.start(device.trace(), machine, 0);
  while (!searching) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(planner.busy());
  planner.close();
  EXPECT_FALSE(planner.busy());
  PlanningNews news;
  ASSERT_TRUE(planner.poll(news));
  EXPECT_FALSE(news.preparation.plan);
  planner.start(device.trace(), machine, 0);
  EXPECT_FALSE(planner.busy());
}

TEST_F(BackgroundPlanning, AFirstPlanThatHadItsTimeIsTheLast) {
  int plans = 0;
  BackgroundOptions asked = options();
  asked.quick_seconds = 60;
  asked.deadline_seconds = 120;
  asked.plan = [&plans](const PlanningProblem& problem, const PlannerOptions& planning) {
    plans += problem.limit > 0;
    return find_planner("ebb").plan(problem, planning);
  };
  BackgroundPlanner planner(asked);
  planner.start(device.trace(), machine, 0);
  ASSERT_TRUE(last(planner).preparation.plan);
  EXPECT_LE(plans, 2) << "with and without a pool above the plan";
}

TEST_F(BackgroundPlanning, PlansLieAboveTheGround) {
  BackgroundPlanner planner(options());
  planner.start(device.trace(), machine, 4 * kSmall);
  const PlanningNews news = last(planner);
  ASSERT_TRUE(news.preparation.plan);
  const PreparedPlan& plan = *news.preparation.plan;
  EXPECT_EQ(plan.offsets.footprint, plan.layout.footprint + 4 * kSmall);
  for (OpIndex i = 0; i < kLayers; ++i) EXPECT_GE(plan.offsets.births.offset(i, 0), 4 * kSmall);
}

TEST_F(BackgroundPlanning, BlocksThatAreSmallAllTogetherDoNotMove) {
  BackgroundOptions asked = options();
  asked.capacity = 100 * kSmall * kLayers;
  BackgroundPlanner planner(asked);
  planner.start(device.trace(), machine, 0);
  const PlanningNews news = last(planner);
  ASSERT_TRUE(news.iteration);
  EXPECT_GT(news.iteration->program.info().smallest_managed, 512);
  EXPECT_LE(news.iteration->program.info().smallest_managed, kBytes);
}

TEST_F(BackgroundPlanning, OneSmallBlockOfManyOfItsSizeMovesLikeTheOthers) {
  BackgroundOptions asked = options();
  asked.capacity = 100 * kSmall * (kLayers - 1);  // all but one of the small ones are a hundredth of it
  BackgroundPlanner planner(asked);
  planner.start(device.trace(), machine, 0);
  const PlanningNews news = last(planner);
  ASSERT_TRUE(news.iteration);
  EXPECT_LE(news.iteration->program.info().smallest_managed, kSmall);
}

TEST_F(BackgroundPlanning, AHostThatIsAheadKeepsNoOpWaiting) {
  BackgroundOptions asked = options();
  asked.host_is_ahead = true;
  BackgroundPlanner planner(asked);
  planner.start(device.trace(), machine, 0);
  const PlanningNews news = last(planner);
  ASSERT_TRUE(news.iteration);
  for (const Op& op : news.iteration->program.ops()) EXPECT_EQ(op.issue, 0);
}

class PlanningAgain : public BackgroundPlanning {
 protected:
  BackgroundOptions options() const {
    BackgroundOptions asked = BackgroundPlanning::options();
    asked.host_is_ahead = true;
    return asked;
  }
  PlanningNews first_news(BackgroundPlanner& planner) {
    planner.start(device.trace(), machine, 0);
    return last(planner);
  }
  // Ops that take so many times as long as the plan was made for.
  static FollowedPlan followed(const PlanningNews& news, Nanoseconds times) {
    const std::vector<Op>& ops = news.iteration->program.ops();
    std::vector<Nanoseconds> seen;
    for (const Op& op : ops) seen.push_back(times * op.duration);
    FollowedPlan plan{
        .plan = news.preparation.plan, .iteration = news.iteration, .fingerprint = news.fingerprint};
    plan.seen.ops.add(std::move(seen));
    return plan;
  }
};

TEST_F(PlanningAgain, TheSameTimesChangeNothing) {
  BackgroundPlanner planner(options());
  const PlanningNews first = first_news(planner);
  ASSERT_TRUE(first.preparation.plan);
  planner.start_again(followed(first, 1), machine, 0);
  const PlanningNews second = last(planner);
  EXPECT_EQ(second.preparation.plan, first.preparation.plan);
  EXPECT_EQ(second.fingerprint, first.fingerprint);
}

TEST_F(PlanningAgain, OtherTimesAreWhatIsToBeExpected) {
  BackgroundPlanner planner(options());
  const PlanningNews first = first_news(planner);
  ASSERT_TRUE(first.preparation.plan);
  planner.start_again(followed(first, 3), machine, 0);
  const PlanningNews second = last(planner);
  ASSERT_TRUE(second.preparation.plan);
  EXPECT_NE(second.preparation.plan, first.preparation.plan);
  EXPECT_EQ(second.preparation.plan->step.plain_time, 3 * first.preparation.plan->step.plain_time);
  EXPECT_EQ(second.iteration->program.op(0).duration, 3 * first.iteration->program.op(0).duration);
  EXPECT_GE(second.preparation.plan->predicted_step, second.preparation.plan->step.plain_time);
}

TEST_F(PlanningAgain, APlanForTheRightTimesComesBeforeTheLongSearchForABetterOne) {
  std::atomic<bool> again = false, told = false;
  BackgroundOptions asked = options();
  // Whatever else the machine does, all plans are as good as they can be, and the long search waits for news
  // of the quick one to arrive.
  asked.quick_seconds = 60;
  asked.deadline_seconds = 240;
  asked.plan = [&](const PlanningProblem& problem, const PlannerOptions& planning) {
    const bool quick = planning.deadline_seconds <= asked.quick_seconds / 2;
    while (again && !quick && !told) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    PlannerOptions unhurried = planning;
    unhurried.deadline_seconds = 0;
    PlanningResult result = find_planner(again ? "ebb" : "ondemand").plan(problem, unhurried);
    result.cut_short = quick;
    return result;
  };
  BackgroundPlanner planner(asked);
  const PlanningNews first = first_news(planner);
  ASSERT_TRUE(first.preparation.plan);
  again = true;
  planner.start_again(followed(first, 3), machine, 0);
  const PlanningNews early = next(planner);
  told = true;
  ASSERT_TRUE(early.planned);
  ASSERT_TRUE(early.preparation.plan);
  EXPECT_FALSE(early.done);
  const PlanningNews second = last(planner);
  EXPECT_NE(early.preparation.plan, first.preparation.plan);
  EXPECT_EQ(early.iteration->program.op(0).duration, 3 * first.iteration->program.op(0).duration);
  ASSERT_TRUE(second.preparation.plan);
  EXPECT_LE(second.preparation.plan->predicted_step, early.preparation.plan->predicted_step);
}

TEST_F(PlanningAgain, ASearchThatIsStoppedChangesNothing) {
  BackgroundPlanner* stopped = nullptr;
  BackgroundOptions asked = options();
  asked.plan = [&](const PlanningProblem& problem, const PlannerOptions& planning) {
    if (stopped) {
      stopped->be_content();
      planning.progress({});
    }
    return find_planner("ebb").plan(problem, planning);
  };
  BackgroundPlanner planner(asked);
  const PlanningNews first = first_news(planner);
  ASSERT_TRUE(first.preparation.plan);
  stopped = &planner;
  planner.start_again(followed(first, 3), machine, 0);
  const PlanningNews second = last(planner);
  EXPECT_EQ(second.preparation.plan, first.preparation.plan);
  EXPECT_EQ(second.iteration, first.iteration);
}

}  // namespace
}  // namespace ebb::testing
