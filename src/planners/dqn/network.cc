#include "planners/dqn/network.h"

#include <algorithm>

namespace ebb::dqn {
namespace {

Eigen::VectorXf relu(const Eigen::VectorXf& x) { return x.cwiseMax(0.0F); }

}  // namespace

Network::Network(const Graph& graph, const Weights& weights)
    : graph_(graph),
      states_(static_cast<std::size_t>(kRounds)),
      valid_(static_cast<std::size_t>(graph.size()), 0),
      marks_(static_cast<std::size_t>(graph.size()), 0) {
  set_weights(weights);
}

void Network::set_weights(const Weights& weights) {
  weights_ = weights;
  const int n = graph_.size();
  Eigen::MatrixXf x(static_cast<Eigen::Index>(kFeatures), n);
  Eigen::RowVectorXf lags(n);
  for (int v = 0; v < n; ++v) {
    for (std::size_t k = 0; k < kFeatures; ++k) x(static_cast<Eigen::Index>(k), v) = graph_[v].features[k];
    lags(v) = graph_.weight_sum(v);
  }
  // Time lags are not negative: Σ ReLU(W₄ w) = ReLU(W₄) Σ w.
  base_ = weights_.w(1) * x + weights_.w(3) * weights_.w(4).cwiseMax(0.0F) * lags;
  compute_all();
}

void Network::compute_all() {
  const Eigen::MatrixXf& w2 = weights_.w(2);
  Eigen::MatrixXf base = base_;
  for (int v = 0; v < graph_.size(); ++v)
    if (valid_[static_cast<std::size_t>(v)] != 0) base.col(v) += weights_.w(1).col(kValidity);
  states_[0] = base.cwiseMax(0.0F);
  Eigen::MatrixXf sums(base.rows(), base.cols());
  for (std::size_t t = 1; t < states_.size(); ++t) {
    for (int v = 0; v < graph_.size(); ++v) {
      sums.col(v).setZero();
      for (const int u : graph_.neighbours(v)) sums.col(v) += states_[t - 1].col(u);
    }
    states_[t] = (base + w2 * sums).cwiseMax(0.0F);
  }
}

void Network::compute_node(int round, int v) {
  const auto t = static_cast<std::size_t>(round);
  Eigen::VectorXf x = base_.col(v);
  if (valid_[static_cast<std::size_t>(v)] != 0) x += weights_.w(1).col(kValidity);
  if (round > 0) {
    Eigen::VectorXf sum = Eigen::VectorXf::Zero(x.size());
    for (const int u : graph_.neighbours(v)) sum += states_[t - 1].col(u);
    x.noalias() += weights_.w(2) * sum;
  }
  states_[t].col(v) = relu(x);
}

void Network::set_valid(std::span<const int> nodes) {
  ++mark_;
  changed_.clear();
  for (const int v : nodes) {
    marks_[static_cast<std::size_t>(v)] = mark_;
    if (valid_[static_cast<std::size_t>(v)] == 0) changed_.push_back(v);
  }
  for (int v = 0; v < graph_.size(); ++v)
    if (valid_[static_cast<std::size_t>(v)] != 0 && marks_[static_cast<std::size_t>(v)] != mark_)
      changed_.push_back(v);
  for (const int v : changed_) valid_[static_cast<std::size_t>(v)] ^= 1;
  if (!changed_.empty()) spread();
}

void Network::spread() {
  if (2 * changed_.size() > static_cast<std::size_t>(graph_.size())) return compute_all();
  ++mark_;
  for (const int v : changed_) marks_[static_cast<std::size_t>(v)] = mark_;
  for (int round = 0; round < kRounds; ++round) {
    for (const int v : changed_) compute_node(round, v);
    if (round + 1 == kRounds) break;
    for (std::size_t i = 0, count = changed_.size(); i < count; ++i)
      for (const int u : graph_.neighbours(changed_[i])) {
        if (marks_[static_cast<std::size_t>(u)] == mark_) continue;
        marks_[static_cast<std::size_t>(u)] = mark_;
        changed_.push_back(u);
      }
  }
}

// The sum of eq. 2 is taken per node: W₅ is the paper's times the number of nodes, and so fits any graph.
Eigen::VectorXf Network::graph_state(int current) const {
  const Eigen::MatrixXf& states = states_.back();
  const Eigen::VectorXf sum = states.rowwise().sum() / static_cast<float>(graph_.size());
  Eigen::VectorXf state(2 * states.rows());
  state << weights_.w(5) * sum, weights_.w(6) * states.col(current);
  return state;
}

double Network::q(int current, int action) const {
  const int one[] = {action};
  return best(current, one).q;
}

Network::Choice Network::best(int current, std::span<const int> actions) const {
  const Eigen::VectorXf state = graph_state(current);
  const Eigen::Index p = weights_.width();
  const Eigen::RowVectorXf w7 = weights_.w(7);
  const float of_state = w7.head(2 * p) * relu(state);
  Choice choice;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const float of_action = w7.tail(p) * relu(weights_.w(8) * states_.back().col(actions[i]));
    const double q = static_cast<double>(of_state) + static_cast<double>(of_action);
    if (i == 0 || q > choice.q) choice = {actions[i], q};
  }
  return choice;
}

}  // namespace ebb::dqn
