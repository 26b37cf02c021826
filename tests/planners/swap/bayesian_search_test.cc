#include "planners/swap/bayesian_search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planners/swap/gaussian_process.h"

namespace ebb {
namespace {

TEST(GaussianProcess, GoesThroughWhatItWasToldAndDoubtsTheRest) {
  Eigen::MatrixXd points(1, 3);
  points << -1, 0, 1;
  const GaussianProcess process(points, Eigen::Vector3d(3, 7, 5));
  const auto known = process(points);
  EXPECT_NEAR(known.mean(0), 3, 0.01);
  EXPECT_NEAR(known.mean(1), 7, 0.01);
  EXPECT_NEAR(known.mean(2), 5, 0.01);
  EXPECT_LT(known.deviation.maxCoeff(), 0.05);
  const auto between = process(Eigen::MatrixXd::Constant(1, 1, 0.5));
  EXPECT_GT(between.deviation(0), 10 * known.deviation.maxCoeff());
}

TEST(GaussianProcess, FarFromEverythingItExpectsTheMean) {
  Eigen::MatrixXd points(1, 2);
  points << 0, 1;
  const auto far = GaussianProcess(points, Eigen::Vector2d(10, 20))(Eigen::MatrixXd::Constant(1, 1, 100));
  EXPECT_NEAR(far.mean(0), 15, 1e-6);
  EXPECT_NEAR(far.deviation(0), 5, 1e-6);
}

TEST(ExpectedImprovement, HasItsClosedForm) {
  EXPECT_NEAR(expected_improvement(1, 1, 1), 0.398942, 1e-6);  // φ(0)
  EXPECT_NEAR(expected_improvement(2, 1, 1), 1.083316, 1e-6);  // Φ(1) + φ(1)
  EXPECT_NEAR(expected_improvement(0, 1, 1), 0.083316, 1e-6);  // φ(1) - Φ(-1)
  EXPECT_EQ(expected_improvement(3, 1, 0), 2);
  EXPECT_EQ(expected_improvement(1, 3, 0), 0);
}

TEST(BayesianSearch, FindsTheBottomOfABowlInFewSteps) {
  auto bowl = [](const Eigen::VectorXd& x) { return (x - Eigen::Vector2d(0.3, -0.5)).squaredNorm(); };
  BayesianSearch search(2, 1);
  double best = bowl(Eigen::Vector2d(-1, 1));
  search.tell(Eigen::Vector2d(-1, 1), best);
  for (int k = 0; k < 25; ++k) {
    const Eigen::VectorXd point = search.propose();
    ASSERT_LE(point.cwiseAbs().maxCoeff(), 1);
    search.tell(point, bowl(point));
    best = std::min(best, bowl(point));
  }
  EXPECT_LT(best, 0.01);  // 25 points at random come within 0.05 on average
}

}  // namespace
}  // namespace ebb
