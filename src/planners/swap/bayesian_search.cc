#include "planners/swap/bayesian_search.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "planners/swap/gaussian_process.h"

namespace ebb {
namespace {

constexpr Eigen::Index kAnywhere = 160;
constexpr Eigen::Index kNearby = 40;
constexpr double kNear = 0.2;

}  // namespace

double expected_improvement(double best, double mean, double deviation) {
  if (deviation <= 0) return std::max(0.0, best - mean);
  const double z = (best - mean) / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
  return (best - mean) * below + deviation * density;
}

double BayesianSearch::uniform() { return static_cast<double>(random_() >> 11) * 0x1p-52 - 1; }

void BayesianSearch::tell(const Eigen::VectorXd& point, double value) {
  points_.push_back(point);
  values_.push_back(value);
}

Eigen::MatrixXd BayesianSearch::sample() {
  const auto best =
      static_cast<std::size_t>(std::min_element(values_.begin(), values_.end()) - values_.begin());
  Eigen::MatrixXd points(dimensions_, kAnywhere + kNearby);
  for (Eigen::Index k = 0; k < points.cols(); ++k)
    for (Eigen::Index d = 0; d < dimensions_; ++d)
      points(d, k) = k < kAnywhere ? uniform() : std::clamp(points_[best](d) + kNear * uniform(), -1.0, 1.0);
  return points;
}

Eigen::VectorXd BayesianSearch::propose() {
  Eigen::MatrixXd known(dimensions_, static_cast<Eigen::Index>(points_.size()));
  Eigen::VectorXd values(known.cols());
  for (std::size_t k = 0; k < points_.size(); ++k) {
    known.col(static_cast<Eigen::Index>(k)) = points_[k];
    values(static_cast<Eigen::Index>(k)) = values_[k];
  }
  const double best = values.minCoeff();
  const Eigen::MatrixXd points = sample();
  const GaussianProcess::Prediction predicted = GaussianProcess(known, values)(points);
  Eigen::Index chosen = 0;
  double most = -1;
  for (Eigen::Index k = 0; k < points.cols(); ++k) {
    const double improvement = expected_improvement(best, predicted.mean(k), predicted.deviation(k));
    if (improvement <= most) continue;
    most = improvement;
    chosen = k;
  }
  return points.col(chosen);
}

}  // namespace ebb
