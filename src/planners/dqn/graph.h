// The graph of [DQN] §4.2: a node per malloc, read, write and free of the variables, an edge between
// neighbours in time and between nodes of one block, weighted by the time between them.
//
//   malloc X   write X   read X (offload X)   …   read X   free X
//      └──────────┴─────────────┴──────────────────┴─────────┘      all pairs of one block
//   A node stands for at most one action; node 0, the start of the iteration, stands for doing nothing.
#pragma once

#include <array>
#include <vector>

#include "planners/dqn/variables.h"

namespace ebb::dqn {

enum class NodeKind : char { start, malloc, read, write, free };

inline constexpr std::size_t kFeatures = 6;  // size, transfer, remaking, next use, action type, validity
inline constexpr std::size_t kValidity = 5;  // the only one that changes

struct Node {
  OpIndex op = 0;
  NodeKind kind = NodeKind::start;
  BlockId block = -1;
  Nanoseconds time = 0;  // when it starts in a plain step
  int variable = -1;     // the one whose features it carries, and the one its action is about
  Action action = Action::keep;
  std::array<float, kFeatures> features = {};  // times per mean step time of a variable, sizes per largest
};

class Graph {
 public:
  Graph(const PlanningProblem& problem, const std::vector<Variable>& variables,
        const PlannerOptions& options);

  int size() const { return static_cast<int>(nodes_.size()); }
  const Node& operator[](int v) const { return nodes_[static_cast<std::size_t>(v)]; }
  // Neighbours of a node, itself among them, ascending.
  std::span<const int> neighbours(int v) const {
    const auto at = static_cast<std::size_t>(v);
    return {neighbours_.data() + first_[at], neighbours_.data() + first_[at + 1]};
  }
  // The weight of the edge: plain step times between two nodes.
  float weight(int u, int v) const;
  // Σ of the weights to its neighbours.
  float weight_sum(int v) const { return weight_sums_[static_cast<std::size_t>(v)]; }
  // The node that stands for the action, or -1.
  int offload_node(int variable) const { return offload_[static_cast<std::size_t>(variable)]; }
  int remove_node(int variable) const { return remove_[static_cast<std::size_t>(variable)]; }
  // The first node of an op at or after this one; the last node if there is none.
  int node_at(OpIndex op) const;

 private:
  void add_nodes(const PlanningProblem& problem, const std::vector<Variable>& variables);
  void assign_actions(const PlanningProblem& problem, const std::vector<Variable>& variables,
                      const PlannerOptions& options);
  void describe(const std::vector<Variable>& variables);
  void connect();
  int take_node(BlockId block, OpIndex preferred, NodeKind kind, int variable, Action action);

  std::vector<Node> nodes_;
  std::vector<int> neighbours_;
  std::vector<std::size_t> first_;
  std::vector<float> weight_sums_;
  std::vector<int> offload_, remove_;
  double step_ = 1;
};

}  // namespace ebb::dqn
