#include "simulate/lp.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

TEST(Lp, FindsTheCornerOfASmallProgram) {
  // min 3x + 2y with x + y >= 4, x <= 3, y <= 3: y as large as it may be, x = 1.
  LinearProgram lp;
  const auto x = lp.add_column(3, 0, 3);
  const auto y = lp.add_column(2, 0, 3);
  const auto row = lp.add_at_least(4);
  lp.add_term(row, x, 1);
  lp.add_term(row, y, 1);
  const LpSolution solution = minimise(lp);
  EXPECT_EQ(solution.status, LpStatus::optimal);
  EXPECT_NEAR(solution.objective, 9, 1e-9);
  EXPECT_NEAR(solution.bound, 9, 1e-9);
  EXPECT_NEAR(solution.values[0], 1, 1e-9);
  EXPECT_NEAR(solution.values[1], 3, 1e-9);
}

TEST(Lp, RespectsRowsThatBoundFromAbove) {
  // min -x - 2y with x + y <= 4, x + 3y <= 6: the corner (3, 1), objective -5.
  LinearProgram lp;
  const auto x = lp.add_column(-1, 0, 10);
  const auto y = lp.add_column(-2, 0, 10);
  const auto sum = lp.add_at_most(4);
  const auto weighted = lp.add_at_most(6);
  lp.add_term(sum, x, 1);
  lp.add_term(sum, y, 1);
  lp.add_term(weighted, x, 1);
  lp.add_term(weighted, y, 3);
  const LpSolution solution = minimise(lp);
  EXPECT_EQ(solution.status, LpStatus::optimal);
  EXPECT_NEAR(solution.objective, -5, 1e-9);
  EXPECT_NEAR(solution.bound, -5, 1e-9);
}

TEST(Lp, SplitsAFractionalCover) {
  // Three items of 2 bytes that cost 1, 2, 3; 3 bytes are needed: the first and half of the second.
  LinearProgram lp;
  const auto row = lp.add_at_least(3);
  for (double cost : {1.0, 2.0, 3.0}) lp.add_term(row, lp.add_column(cost, 0, 1), 2);
  const LpSolution solution = minimise(lp);
  EXPECT_NEAR(solution.objective, 2, 1e-9);
  EXPECT_NEAR(solution.values[1], 0.5, 1e-9);
}

TEST(Lp, AddsUpTermsOfOneRowAndColumn) {
  LinearProgram lp;
  const auto x = lp.add_column(1, 0, 100);
  const auto row = lp.add_at_least(6);
  lp.add_term(row, x, 1);
  lp.add_term(row, x, 2);
  EXPECT_NEAR(minimise(lp).objective, 2, 1e-9);
}

TEST(Lp, SaysWhenNothingFits) {
  LinearProgram lp;
  const auto x = lp.add_column(1, 0, 1);
  lp.add_term(lp.add_at_least(2), x, 1);
  EXPECT_EQ(minimise(lp).status, LpStatus::infeasible);
}

TEST(Lp, BoundNeverExceedsTheObjectiveOfAFeasiblePoint) {
  // A chain of covers: x0 + x1 >= 1, x1 + x2 >= 1, … over 400 columns with uneven costs. All halves is
  // feasible.
  LinearProgram lp;
  double halves = 0;
  for (int i = 0; i < 400; ++i) {
    const double cost = 1 + (i * 37 % 11);
    lp.add_column(cost, 0, 1);
    halves += cost / 2;
  }
  for (int i = 0; i + 1 < 400; ++i) {
    const auto row = lp.add_at_least(1);
    lp.add_term(row, i, 1);
    lp.add_term(row, i + 1, 1);
  }
  const LpSolution solution = minimise(lp);
  EXPECT_EQ(solution.status, LpStatus::optimal);
  EXPECT_LE(solution.bound, halves);
  EXPECT_NEAR(solution.bound, solution.objective, 1e-6);
}

TEST(Lp, StoppedBeforeItBeganStillGivesAValidBound) {
  LinearProgram lp;
  const auto row = lp.add_at_least(150);
  for (int i = 0; i < 300; ++i) lp.add_term(row, lp.add_column(1 + i % 7, 0, 1), 1);
  const double optimum = minimise(lp).objective;
  EXPECT_LE(minimise(lp, 0).bound, optimum + 1e-9);
}

}  // namespace
}  // namespace ebb
