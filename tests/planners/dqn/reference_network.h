// Eq. 1–3 of [DQN] as they stand in the paper: no shortcut, no matrix product, in double.
#pragma once

#include <set>
#include <vector>

#include "planners/dqn/graph.h"
#include "planners/dqn/weights.h"

namespace ebb::dqn {

class ReferenceNetwork {
 public:
  ReferenceNetwork(const Graph& graph, const Weights& weights, const std::set<int>& valid, int rounds = 4)
      : weights_(weights) {
    const auto p = static_cast<std::size_t>(weights.width());
    const int n = graph.size();
    states_.assign(static_cast<std::size_t>(n), Vector(p, 0));
    for (int t = 0; t < rounds; ++t) {
      std::vector<Vector> next;
      for (int v = 0; v < n; ++v) {
        Vector x(graph[v].features.begin(), graph[v].features.end());
        x[kValidity] = valid.contains(v) ? 1 : 0;
        Vector sum(p, 0), lags(p, 0);
        for (const int u : graph.neighbours(v)) {
          add(sum, states_[static_cast<std::size_t>(u)]);
          add(lags, relu(times(4, {static_cast<double>(graph.weight(u, v))})));
        }
        Vector state = times(1, x);
        add(state, times(2, sum));
        add(state, times(3, lags));
        next.push_back(relu(state));
      }
      states_ = std::move(next);
    }
  }

  // W₅ is kept per node: the paper's W₅ is ours divided by their number.
  double q(int current, int action) const {
    Vector sum(states_.front().size(), 0);
    for (const Vector& state : states_) add(sum, state);
    for (double& value : sum) value /= static_cast<double>(states_.size());
    Vector all = times(5, sum);
    const Vector here = times(6, states_[static_cast<std::size_t>(current)]);
    const Vector chosen = times(8, states_[static_cast<std::size_t>(action)]);
    all.insert(all.end(), here.begin(), here.end());
    all.insert(all.end(), chosen.begin(), chosen.end());
    return times(7, relu(all)).front();
  }

 private:
  using Vector = std::vector<double>;

  static Vector relu(Vector x) {
    for (double& value : x) value = value > 0 ? value : 0;
    return x;
  }
  static void add(Vector& to, const Vector& x) {
    for (std::size_t i = 0; i < x.size(); ++i) to[i] += x[i];
  }
  Vector times(int matrix, const Vector& x) const {
    const Eigen::MatrixXf& w = weights_.w(matrix);
    Vector y(static_cast<std::size_t>(w.rows()), 0);
    for (Eigen::Index r = 0; r < w.rows(); ++r)
      for (Eigen::Index c = 0; c < w.cols(); ++c)
        y[static_cast<std::size_t>(r)] += static_cast<double>(w(r, c)) * x[static_cast<std::size_t>(c)];
    return y;
  }

  const Weights& weights_;
  std::vector<Vector> states_;
};

}  // namespace ebb::dqn
