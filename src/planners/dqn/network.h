// Eq. 1–3 of [DQN] while acting: node states, graph state and Q-values, kept up to date as actions become
// valid and invalid. Only what lies within T − 1 edges of a change is computed again. Gradients are not here.
#pragma once

#include <span>
#include <vector>

#include "planners/dqn/graph.h"
#include "planners/dqn/weights.h"

namespace ebb::dqn {

inline constexpr int kRounds = 4;  // T

class Network {
 public:
  // REQUIRES: the graph outlives the network.
  Network(const Graph& graph, const Weights& weights);

  void set_weights(const Weights& weights);
  // The nodes whose actions are valid; all others are not.
  void set_valid(std::span<const int> nodes);

  // Q̂ of the action of node `action` while `current` is under execution.
  double q(int current, int action) const;
  // The action with the highest Q̂, the first of equals. REQUIRES: at least one action.
  struct Choice {
    int action = 0;
    double q = 0;
  };
  Choice best(int current, std::span<const int> actions) const;

 private:
  void compute_all();
  void compute_node(int round, int v);
  void spread();
  Eigen::VectorXf graph_state(int current) const;

  const Graph& graph_;
  Weights weights_;
  Eigen::MatrixXf base_;                 // p × N: W₁x + W₃ Σ ReLU(W₄w), the action invalid
  std::vector<Eigen::MatrixXf> states_;  // by round: p × N
  std::vector<char> valid_;              // by node
  std::vector<int> changed_;
  std::vector<int> marks_;  // by node: the last spreading that reached it
  int mark_ = 0;
};

}  // namespace ebb::dqn
