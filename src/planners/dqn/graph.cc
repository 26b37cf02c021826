#include "planners/dqn/graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "planners/swap/plain_clock.h"

namespace ebb::dqn {
namespace {

constexpr float kLargestFeature = 10;
constexpr float kOffload = -1, kRemove = 1;

NodeKind kind_of(const Program& program, BlockId block, OpIndex op) {
  for (const BlockAccess& access : program.accesses(block))
    if (access.op == op) return access.reads ? NodeKind::read : NodeKind::write;
  return NodeKind::write;
}

}  // namespace

Graph::Graph(const PlanningProblem& problem, const std::vector<Variable>& variables,
             const PlannerOptions& options) {
  add_nodes(problem, variables);
  assign_actions(problem, variables, options);
  describe(variables);
  connect();
}

void Graph::add_nodes(const PlanningProblem& problem, const std::vector<Variable>& variables) {
  const Program& program = problem.program;
  const PlainClock clock(program, problem.machine);
  step_ = static_cast<double>(std::max<Nanoseconds>(clock.step(), 1));
  std::map<std::tuple<OpIndex, NodeKind, BlockId>, int> wanted;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const Gap& gap = problem.gaps[variables[v].gaps.front()];
    const Block& block = program.block(gap.block);
    auto want = [&](OpIndex op, NodeKind kind) {
      wanted.emplace(std::tuple(op % program.op_count(), kind, gap.block), static_cast<int>(v));
    };
    if (block.birth != kNoOp) want(block.birth, NodeKind::malloc);
    if (block.death != kNoOp) want(block.death, NodeKind::free);
    if (const OpIndex writer = program.version(gap.version).writer; writer >= 0)
      want(writer, NodeKind::write);
    if (program.version(gap.version).writer != gap.from)
      want(gap.from, kind_of(program, gap.block, gap.from));
    if (gap.kind != GapKind::trailing) want(gap.to, kind_of(program, gap.block, gap.to % program.op_count()));
  }
  nodes_.push_back({});
  for (const auto& [where, variable] : wanted) {
    const auto& [op, kind, block] = where;
    nodes_.push_back({.op = op,
                      .kind = kind,
                      .block = block,
                      .time = kind == NodeKind::free ? clock.end(op) : clock.start(op),
                      .variable = variable});
  }
}

// The preferred node, or the nearest free one of the same block: no node stands for two actions.
int Graph::take_node(BlockId block, OpIndex preferred, NodeKind kind, int variable, Action action) {
  int best = -1;
  auto distance = [&](int v) {
    const Node& node = (*this)[v];
    return std::pair(std::abs(node.op - preferred), node.kind != kind);
  };
  for (int v = 1; v < size(); ++v) {
    const Node& node = (*this)[v];
    if (node.block != block || node.action != Action::keep) continue;
    if (best < 0 || distance(v) < distance(best)) best = v;
  }
  if (best < 0) return -1;
  Node& node = nodes_[static_cast<std::size_t>(best)];
  node.variable = variable;
  node.action = action;
  return best;
}

void Graph::assign_actions(const PlanningProblem& problem, const std::vector<Variable>& variables,
                           const PlannerOptions& options) {
  offload_.assign(variables.size(), -1);
  remove_.assign(variables.size(), -1);
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const Gap& gap = problem.gaps[variables[v].gaps.front()];
    const int id = static_cast<int>(v);
    if (options.allow_swap) offload_[v] = take_node(gap.block, gap.from, NodeKind::read, id, Action::swap);
    if (options.allow_recompute && variables[v].remakable)
      remove_[v] = take_node(gap.block, std::max(problem.program.version(gap.version).writer, 0),
                             NodeKind::write, id, Action::recompute);
  }
}

void Graph::describe(const std::vector<Variable>& variables) {
  double largest = 1;
  for (const Variable& variable : variables) largest = std::max(largest, static_cast<double>(variable.bytes));
  const double unit = step_ / static_cast<double>(variables.size());
  std::map<BlockId, std::vector<Nanoseconds>> uses;
  for (const Node& node : nodes_) uses[node.block].push_back(node.time);
  auto bounded = [](double value) { return std::min(static_cast<float>(value), kLargestFeature); };
  for (Node& node : nodes_) {
    if (node.variable < 0) continue;
    const Variable& variable = variables[static_cast<std::size_t>(node.variable)];
    const std::vector<Nanoseconds>& times = uses[node.block];
    const auto next = std::upper_bound(times.begin(), times.end(), node.time);
    const double soon = next == times.end() ? step_ - static_cast<double>(node.time - times.front())
                                            : static_cast<double>(*next - node.time);
    node.features = {static_cast<float>(static_cast<double>(variable.bytes) / largest),
                     bounded(static_cast<double>(variable.out + variable.in) / unit),
                     bounded(static_cast<double>(variable.remaking) / unit),
                     bounded(soon / step_),
                     node.action == Action::swap        ? kOffload
                     : node.action == Action::recompute ? kRemove
                                                        : 0.0F,
                     0.0F};
  }
}

void Graph::connect() {
  std::map<BlockId, std::vector<int>> of_block;
  for (int v = 1; v < size(); ++v) of_block[(*this)[v].block].push_back(v);
  first_.push_back(0);
  for (int v = 0; v < size(); ++v) {
    std::vector<int> near = {v};
    if (v > 0) near.push_back(v - 1);
    if (v + 1 < size()) near.push_back(v + 1);
    if (v > 0) near.insert(near.end(), of_block[(*this)[v].block].begin(), of_block[(*this)[v].block].end());
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    neighbours_.insert(neighbours_.end(), near.begin(), near.end());
    first_.push_back(neighbours_.size());
    float sum = 0;
    for (const int u : near) sum += weight(u, v);
    weight_sums_.push_back(sum);
  }
}

float Graph::weight(int u, int v) const {
  return static_cast<float>(std::abs(static_cast<double>((*this)[u].time - (*this)[v].time)) / step_);
}

int Graph::node_at(OpIndex op) const {
  const auto at = std::lower_bound(nodes_.begin() + 1, nodes_.end(), op,
                                   [](const Node& node, OpIndex wanted) { return node.op < wanted; });
  return at == nodes_.end() ? size() - 1 : static_cast<int>(at - nodes_.begin());
}

}  // namespace ebb::dqn
