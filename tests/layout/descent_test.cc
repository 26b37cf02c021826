#include "layout/descent.h"

#include <gtest/gtest.h>

#include "layout/random_problems.h"

namespace ebb::layout {
namespace {

TEST(Descent, ReachesTheOptimumAndProvesItWhereTheGoalIsOutOfReach) {
  std::mt19937_64 random(21);
  for (int n = 0; n < 200; ++n) {
    const Problem problem = random_problem(random, {.buffers = 6, .horizon = 8, .largest = 5});
    const Instance instance = cut_into_sections(problem, 1, 1);
    SearchBudget budget{.steps = 1'000'000};
    const PartLayout layout = lower_to(0, instance, {.height = 1'000}, 1, budget);
    EXPECT_EQ(layout.height, exhaustive_footprint(problem));
    EXPECT_EQ(layout.lower_bound, layout.height);
  }
}

TEST(Descent, StopsAtTheGoal) {
  const Instance instance{.sections = 1, .items = {{.first = 0, .count = 1, .size = 5}}, .base = {0}};
  SearchBudget budget{.steps = 1'000};
  const PartLayout layout = lower_to(9, instance, {.height = 100}, 1, budget);
  EXPECT_EQ(layout.height, 5);
  EXPECT_EQ(layout.lower_bound, 0);
}

TEST(Descent, GivesTheStartBackWithoutABudget) {
  const Instance instance{.sections = 1, .items = {{.first = 0, .count = 1, .size = 5}}, .base = {0}};
  SearchBudget budget{.steps = 0};
  EXPECT_TRUE(lower_to(5, instance, {.height = 100}, 1, budget).offsets.empty());
}

}  // namespace
}  // namespace ebb::layout
