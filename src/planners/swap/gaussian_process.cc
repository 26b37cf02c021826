#include "planners/swap/gaussian_process.h"

#include <array>
#include <cmath>

namespace ebb {
namespace {

constexpr std::array kLengthScales = {0.25, 0.5, 1.0, 2.0};
constexpr double kNoise = 1e-4;  // the function is constant in steps, not smooth

Eigen::MatrixXd matern(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double length_scale) {
  Eigen::MatrixXd squares = -2 * a.transpose() * b;
  squares.colwise() += a.colwise().squaredNorm().transpose();
  squares.rowwise() += b.colwise().squaredNorm();
  const Eigen::ArrayXXd distance = (5 * squares.array().max(0)).sqrt() / length_scale;
  return (1 + distance + distance.square() / 3) * (-distance).exp();
}

}  // namespace

GaussianProcess::GaussianProcess(Eigen::MatrixXd points, const Eigen::VectorXd& values)
    : points_(std::move(points)), mean_(values.mean()) {
  values_ = values.array() - mean_;
  if (const double deviation = std::sqrt(values_.squaredNorm() / static_cast<double>(values_.size()));
      deviation > 0)
    scale_ = deviation;
  values_ /= scale_;
  double best = -HUGE_VAL;
  for (const double candidate : kLengthScales)
    if (const double likelihood = fit(candidate); likelihood > best) {
      best = likelihood;
      length_scale_ = candidate;
    }
  fit(length_scale_);
}

double GaussianProcess::fit(double length_scale) {
  Eigen::MatrixXd covariance = matern(points_, points_, length_scale);
  covariance.diagonal().array() += kNoise;
  covariance_.compute(covariance);
  weights_ = covariance_.solve(values_);
  return -values_.dot(weights_) / 2 - covariance_.matrixLLT().diagonal().array().log().sum();
}

GaussianProcess::Prediction GaussianProcess::operator()(const Eigen::MatrixXd& points) const {
  const Eigen::MatrixXd between = matern(points_, points, length_scale_);
  const Eigen::MatrixXd known = covariance_.matrixL().solve(between);
  const Eigen::ArrayXd variance = 1 - known.colwise().squaredNorm().transpose().array();
  const Eigen::ArrayXd mean = (between.transpose() * weights_).array();
  return {mean * scale_ + mean_, variance.max(0).sqrt() * scale_};
}

}  // namespace ebb
