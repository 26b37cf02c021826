// What a few evaluations say about a function: a Gaussian process with a Matérn 5/2 kernel.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace ebb {

class GaussianProcess {
 public:
  struct Prediction {
    Eigen::ArrayXd mean;
    Eigen::ArrayXd deviation;
  };

  // Points are columns. The values are standardised, and the length scale is the most likely of a few.
  // REQUIRES: at least one point, as many values as points.
  GaussianProcess(Eigen::MatrixXd points, const Eigen::VectorXd& values);

  Prediction operator()(const Eigen::MatrixXd& points) const;
  double length_scale() const { return length_scale_; }

 private:
  // Fits with this length scale and returns the log likelihood of the values, up to a constant.
  double fit(double length_scale);

  Eigen::MatrixXd points_;
  Eigen::VectorXd values_;  // standardised
  double mean_ = 0;
  double scale_ = 1;
  double length_scale_ = 1;
  Eigen::LLT<Eigen::MatrixXd> covariance_;
  Eigen::VectorXd weights_;  // covariance⁻¹ values
};

}  // namespace ebb
