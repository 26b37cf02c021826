#include "runtime/prepared_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "literal_programs.h"

namespace ebb::testing {
namespace {

constexpr Bytes kBytes = 64 * kKiB;
constexpr Bytes kCapacity = 2 * kBytes - 1;

// A planner that takes all the time it is given, on a clock of its own. Its first plans need more memory than
// there is.
class SlowPlanner : public ::testing::Test {
 protected:
  Preparation prepare(int useless, PreparationTime time) {
    useless_ = useless;
    return prepare_plan(program, machine,
                        {.plan = [this](const PlanningProblem& problem,
                                        const PlannerOptions& options) { return plan(problem, options); },
                         .capacity = kCapacity,
                         .planning = {.start = given},
                         .time = time,
                         .seconds_now = [this] { return now; }});
  }

  PlanningResult plan(const PlanningProblem& problem, const PlannerOptions& options) {
    seconds.push_back(options.deadline_seconds);
    starts.push_back(options.start);
    limits.push_back(problem.limit);
    now += options.deadline_seconds + more_seconds;
    PlanningResult result{.plan = Plan::keep_all(problem.gaps)};
    Decision& decision = result.plan[problem.gaps.find(0, 0)];
    decision.out_order = static_cast<std::int32_t>(seconds.size());  // no two plans are the same
    if (seconds.size() > static_cast<std::size_t>(useless_)) decision = swap_it();
    made.push_back(result.plan);
    return result;
  }

  double all_seconds() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

  // The first block is idle while the second lives.
  Program program = literal_program({op({writes(0)}), op({writes(1)}), op({reads(1)}), op({reads(0)})},
                                    {local(kBytes, 0, 3), local(kBytes, 1, 2)});
  Machine machine{.name = "links", .bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000};
  std::optional<Plan> given;
  double now = 1000;
  double more_seconds = 0;  // that it takes beyond its deadline
  std::vector<double> seconds;
  std::vector<std::optional<Plan>> starts;
  std::vector<Plan> made;
  std::vector<Bytes> limits;

 private:
  int useless_ = 0;
};

TEST_F(SlowPlanner, HasOneDeadlineForAllPlansTogether) {
  const Preparation made = prepare(8, {.search = 1, .enough = 2, .most = 60});
  ASSERT_TRUE(made.plan) << made.refusal;
  ASSERT_EQ(seconds.size(), 9u);
  EXPECT_EQ(seconds.front(), 1);
  EXPECT_LT(all_seconds(), 2.1);
  for (const double given_to_one : seconds) EXPECT_GT(given_to_one, 0);
}

TEST_F(SlowPlanner, GoesOnAfterTheDeadlineUntilSomethingFits) {
  more_seconds = 5;
  const Preparation made = prepare(4, {.search = 1, .enough = 2, .most = 60});
  ASSERT_TRUE(made.plan) << made.refusal;
  ASSERT_EQ(seconds.size(), 5u);
  for (std::size_t i = 1; i < seconds.size(); ++i) EXPECT_LT(seconds[i], 0.01);
  EXPECT_TRUE(made.cut_short);
}

TEST_F(SlowPlanner, MakesDoWithoutAPoolBeforeItPlansForMuchLess) {
  more_seconds = 4;
  const Preparation made = prepare(3, {.search = 1, .enough = 2, .most = 20});
  ASSERT_TRUE(made.plan) << made.refusal;
  EXPECT_EQ(limits.back(), kCapacity);
}

TEST_F(SlowPlanner, PlansForMuchLessWhenItsTimeIsOver) {
  more_seconds = 30;
  const Preparation made = prepare(5, {.search = 1, .enough = 2, .most = 20});
  ASSERT_TRUE(made.plan) << made.refusal;
  EXPECT_EQ(limits.back(), kCapacity - kCapacity / 32);
}

TEST_F(SlowPlanner, SearchesForLessFromThePlanBefore) {
  ASSERT_TRUE(prepare(2, {}).plan);
  ASSERT_EQ(starts.size(), 3u);
  EXPECT_FALSE(starts[0].has_value());
  EXPECT_TRUE(starts[1].has_value());
  EXPECT_TRUE(starts[2].has_value());
}

TEST_F(SlowPlanner, SearchesForMoreAgainFromThePlanForTheNearestLimit) {
  EXPECT_FALSE(prepare(1000, {}).plan);
  const auto more = std::adjacent_find(limits.begin(), limits.end(), std::less());
  ASSERT_NE(more, limits.end()) << "without a pool there is more room";
  const auto search = static_cast<std::size_t>(more - limits.begin()) + 1;
  ASSERT_GE(search, 2u) << "there was one for less in between";
  EXPECT_EQ(starts[search - 1], made[search - 2]);
  std::size_t nearest = 0;
  while (nearest + 1 < search && limits[nearest + 1] >= limits[search]) ++nearest;
  EXPECT_EQ(starts[search], made[nearest]);
  EXPECT_LT(nearest + 1, search) << "the plan before was for the nearest limit";
}

TEST_F(SlowPlanner, GivesTheFirstSearchAllItsTimeAlsoWhereAPlanIsGiven) {
  given = Plan::keep_all(Gaps(program));
  ASSERT_TRUE(prepare(1, {.search = 4, .enough = 100, .most = 200}).plan);
  EXPECT_TRUE(starts.front().has_value());
  EXPECT_EQ(seconds, (std::vector<double>{4, 1}));
}

TEST_F(SlowPlanner, WithoutADeadlineNoSearchIsEndedEarly) {
  const Preparation made = prepare(0, {});
  ASSERT_TRUE(made.plan) << made.refusal;
  EXPECT_EQ(seconds, (std::vector<double>{0}));
  EXPECT_FALSE(made.cut_short);
}

TEST_F(SlowPlanner, APlanMadeForLessCouldBeBetter) { EXPECT_TRUE(prepare(1, {}).cut_short); }

TEST_F(SlowPlanner, SaysWhyThereIsNone) {
  const Preparation made = prepare(1000, {});
  EXPECT_FALSE(made.plan);
  EXPECT_NE(made.refusal.find("packed"), std::string::npos) << made.refusal;
}

}  // namespace
}  // namespace ebb::testing
