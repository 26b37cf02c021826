#include "planners/recompute/evicted_costs.h"

#include <algorithm>

namespace ebb {

EvictedCosts::EvictedCosts(const Program& program, const Machine& machine, LossMeasure measure)
    : measure_(measure),
      parents_(program.versions().size()),
      children_(program.versions().size()),
      own_(program.versions().size(), 0),
      state_(program.versions().size(), State::unmade),
      known_(program.versions().size(), -1),
      seen_(program.versions().size(), 0),
      node_of_(program.versions().size(), 0) {
  for (OpIndex i = 0; i < program.op_count(); ++i)
    for (const OpOutput& output : program.outputs(i)) {
      own_[static_cast<std::size_t>(output.version)] = machine.op_time(program.op(i));
      for (VersionId input : program.inputs(i)) {
        if (program.version(input).writer < 0) continue;
        parents_[static_cast<std::size_t>(output.version)].push_back(input);
        children_[static_cast<std::size_t>(input)].push_back(output.version);
      }
    }
}

void EvictedCosts::found(VersionId v) {
  State& now = state_[static_cast<std::size_t>(v)];
  if (now == State::present) return;
  if (now == State::lost && measure_ == LossMeasure::classes)
    sum_[root(node_of_[static_cast<std::size_t>(v)])] -= own(v);
  if (now == State::lost) forget_around(v);
  now = State::present;
}

void EvictedCosts::lost(VersionId v) {
  State& now = state_[static_cast<std::size_t>(v)];
  if (now == State::lost) return;
  now = State::lost;
  forget_around(v);
  if (measure_ != LossMeasure::classes) return;
  std::size_t mine = up_.size();
  node_of_[static_cast<std::size_t>(v)] = mine;
  up_.push_back(mine);
  sum_.push_back(own(v));
  for (const auto* neighbours : {&parents(v), &children(v)})
    for (VersionId u : *neighbours) {
      if (state(u) != State::lost) continue;
      const std::size_t other = root(node_of_[static_cast<std::size_t>(u)]);
      if (other == mine) continue;
      up_[other] = mine;
      sum_[mine] += sum_[other];
    }
}

Nanoseconds EvictedCosts::cost(VersionId v) {
  switch (measure_) {
    case LossMeasure::local:
      return own(v);
    case LossMeasure::classes:
      return own(v) + neighbouring_classes(v);
    case LossMeasure::neighbourhood:
      break;
  }
  Nanoseconds& known = known_[static_cast<std::size_t>(v)];
  if (known < 0) known = own(v) + lost_neighbourhood(v);
  return known;
}

Nanoseconds EvictedCosts::lost_neighbourhood(VersionId v) {
  Nanoseconds total = 0;
  ++round_;
  for (const auto* edges : {&parents_, &children_}) {
    stack_.assign(1, v);
    while (!stack_.empty()) {
      const VersionId from = stack_.back();
      stack_.pop_back();
      for (VersionId u : (*edges)[static_cast<std::size_t>(from)]) {
        if (state(u) != State::lost || seen_[static_cast<std::size_t>(u)] == round_) continue;
        seen_[static_cast<std::size_t>(u)] = round_;
        total += own(u);
        stack_.push_back(u);
      }
    }
  }
  return total;
}

Nanoseconds EvictedCosts::neighbouring_classes(VersionId v) {
  Nanoseconds total = 0;
  std::vector<std::size_t> counted;
  for (const auto* neighbours : {&parents(v), &children(v)})
    for (VersionId u : *neighbours) {
      if (state(u) != State::lost) continue;
      const std::size_t other = root(node_of_[static_cast<std::size_t>(u)]);
      if (std::find(counted.begin(), counted.end(), other) != counted.end()) continue;
      counted.push_back(other);
      total += sum_[other];
    }
  return total;
}

// Costs that looked at v: of everything that reaches it through lost contents.
void EvictedCosts::forget_around(VersionId v) {
  if (measure_ != LossMeasure::neighbourhood) return;
  ++round_;
  known_[static_cast<std::size_t>(v)] = -1;
  for (const auto* edges : {&parents_, &children_}) {
    stack_.assign(1, v);
    while (!stack_.empty()) {
      const VersionId from = stack_.back();
      stack_.pop_back();
      for (VersionId u : (*edges)[static_cast<std::size_t>(from)]) {
        known_[static_cast<std::size_t>(u)] = -1;
        if (state(u) != State::lost || seen_[static_cast<std::size_t>(u)] == round_) continue;
        seen_[static_cast<std::size_t>(u)] = round_;
        stack_.push_back(u);
      }
    }
  }
}

std::size_t EvictedCosts::root(std::size_t node) {
  while (up_[node] != node) node = up_[node] = up_[up_[node]];
  return node;
}

}  // namespace ebb
