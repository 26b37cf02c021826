// Bayesian optimisation on the cube [-1, 1]ᵈ: a Gaussian process over what was evaluated says where the
// expected improvement is largest. Same seed, same proposals.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <random>
#include <vector>

namespace ebb {

class BayesianSearch {
 public:
  BayesianSearch(Eigen::Index dimensions, std::uint64_t seed) : dimensions_(dimensions), random_(seed) {}

  void tell(const Eigen::VectorXd& point, double value);
  // REQUIRES: told at least once.
  Eigen::VectorXd propose();

 private:
  double uniform();  // in [-1, 1)
  // Points all over the cube, and some near the best one known.
  Eigen::MatrixXd sample();

  Eigen::Index dimensions_;
  std::mt19937_64 random_;
  std::vector<Eigen::VectorXd> points_;
  std::vector<double> values_;
};

// How much lower than `best` a normally distributed value is expected to be, where it is lower.
double expected_improvement(double best, double mean, double deviation);

}  // namespace ebb
