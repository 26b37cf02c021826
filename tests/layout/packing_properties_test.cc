// Properties of pack() over random problems. EBB_SOAK=1 runs 25 times as many: with those of arenas_test.cc,
// 100,000.
#include <gtest/gtest.h>

#include "layout/heuristics.h"
#include "layout/packing.h"
#include "layout/random_problems.h"
#include "layout/validate.h"

namespace ebb::layout {
namespace {

constexpr int kInstances = 2'400;

RandomShape shape_of(int n) {
  return {.buffers = 1 + n % 37, .horizon = 2 + n % 41, .largest = 1 + n % 23, .cyclic = n % 3 == 0};
}

Bytes best_heuristic(const Problem& problem) {
  Bytes best = std::numeric_limits<Bytes>::max();
  for (const Order order : kOrders) {
    for (const Fit fit : kFits) best = std::min(best, pack_greedily(problem, order, fit, 1).footprint);
  }
  return best;
}

TEST(PackProperties, LayoutsAreValidAndNeverWorseThanTheBestHeuristic) {
  std::mt19937_64 random(41);
  const PackOptions options{.alignment = 1, .budget = 3'000};
  for (int n = 0; n < soak(kInstances); ++n) {
    const Problem problem = random_problem(random, shape_of(n));
    const Layout layout = pack(problem, options);
    ASSERT_TRUE(layout.fits);
    const auto violations = validate(problem, layout, options);
    ASSERT_TRUE(violations.empty()) << "instance " << n << ": " << violations.front().message;
    ASSERT_GE(layout.footprint, layout.lower_bound);
    ASSERT_GE(layout.lower_bound, layout.load);
    ASSERT_EQ(layout.proved, layout.footprint == layout.lower_bound);
    ASSERT_LE(layout.footprint, best_heuristic(problem)) << "instance " << n;
  }
}

TEST(PackProperties, SmallProblemsArePackedToTheProvedOptimum) {
  std::mt19937_64 random(42);
  for (int n = 0; n < soak(500); ++n) {
    const Problem problem = random_problem(
        random, {.buffers = 2 + n % 5, .horizon = 3 + n % 6, .largest = 1 + n % 7, .cyclic = n % 2 == 0});
    const Layout layout = pack(problem, {.alignment = 1});
    ASSERT_EQ(layout.footprint, exhaustive_footprint(problem)) << "instance " << n;
    ASSERT_TRUE(layout.proved);
  }
}

TEST(PackProperties, WithACapacityItFitsExactlyFromTheOptimumOn) {
  std::mt19937_64 random(43);
  for (int n = 0; n < soak(300); ++n) {
    const Problem problem = random_problem(
        random, {.buffers = 2 + n % 5, .horizon = 3 + n % 6, .largest = 1 + n % 7, .cyclic = n % 2 == 0});
    const Bytes optimum = exhaustive_footprint(problem);
    const PackOptions enough{.alignment = 1, .capacity = optimum};
    const Layout layout = pack(problem, enough);
    ASSERT_TRUE(layout.fits);
    ASSERT_TRUE(validate(problem, layout, enough).empty());
    const Layout none = pack(problem, {.alignment = 1, .capacity = optimum - 1});
    ASSERT_FALSE(none.fits);
    ASSERT_TRUE(none.proved);
  }
}

TEST(PackProperties, FixedBuffersKeepTheirPlaceAndNothingIsBelowTheOptimum) {
  std::mt19937_64 random(44);
  for (int n = 0; n < soak(500); ++n) {
    Problem problem =
        random_problem(random, {.buffers = 6, .horizon = 8, .largest = 6, .cyclic = n % 2 == 0});
    const Layout some = pack(problem, {.alignment = 1});
    problem.buffers[0].fixed = some.offsets[0];
    problem.buffers[1].fixed = some.offsets[1];
    const PackOptions options{.alignment = 1, .budget = 20'000};
    const Layout layout = pack(problem, options);
    ASSERT_TRUE(layout.fits);
    const auto violations = validate(problem, layout, options);
    ASSERT_TRUE(violations.empty()) << "instance " << n << ": " << violations.front().message;
    const Bytes optimum = exhaustive_footprint(problem);
    ASSERT_GE(layout.footprint, optimum);
    ASSERT_LE(layout.lower_bound, optimum);
    if (layout.proved) {
      ASSERT_EQ(layout.footprint, optimum);
    }
  }
}

TEST(PackProperties, LargeProblemsAreValidAndNeverWorseThanTheBestHeuristic) {
  std::mt19937_64 random(45);
  const PackOptions options{.alignment = 1, .budget = 20'000};
  for (int n = 0; n < 3; ++n) {
    const Problem problem =
        random_problem(random, {.buffers = 2'500, .horizon = 2'000, .largest = 1'000, .cyclic = n == 2});
    const Layout layout = pack(problem, options);
    const auto violations = validate(problem, layout, options);
    ASSERT_TRUE(violations.empty()) << violations.front().message;
    ASSERT_LE(layout.footprint, best_heuristic(problem));
  }
}

TEST(PackProperties, TheSameSeedAndBudgetGiveTheSameLayout) {
  std::mt19937_64 random(46);
  for (int n = 0; n < 20; ++n) {
    const Problem problem = random_problem(random, {.buffers = 50, .horizon = 60, .largest = 40});
    const PackOptions options{.alignment = 1, .seed = 7, .budget = 5'000};
    EXPECT_EQ(pack(problem, options), pack(problem, options));
  }
}

}  // namespace
}  // namespace ebb::layout
