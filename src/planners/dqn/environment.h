// The environment of [DQN] §4.5–4.8 on our simulator: the agent stands at a node, may offload or remove
// variables that are idle there or do nothing, and is told what that costs.
//
//   offload: the copy takes its time; the agent goes on to the first node that starts after it, or waits at
//   an op that does not fit before. remove, nothing: on to the next node. Rewards are minus the estimated
//   waiting and remaking, per plain step; the last one makes up for what the simulator says instead.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plan/host_copies.h"
#include "planners/dqn/graph.h"
#include "planners/dqn/prefetch_queue.h"
#include "planners/evaluator.h"
#include "planners/swap/plain_clock.h"

namespace ebb::dqn {

class Environment {
 public:
  // REQUIRES: what is referred to outlives the environment.
  Environment(const PlanningProblem& problem, const std::vector<Variable>& variables, const Graph& graph);

  // Back to the start of the iteration, nothing decided.
  void reset();
  // A terminal state: a plan that keeps the limit, or a dead end.
  bool finished() const { return finished_; }
  // Of the finished episode: nothing if it was a dead end.
  const std::optional<StepResult>& outcome() const { return outcome_; }

  int node() const { return graph_.node_at(position_); }
  // The nodes whose actions are legal: 0 first unless the next op does not fit. REQUIRES: not finished.
  std::span<const int> actions() const { return actions_; }
  // Those that offload or remove: what node features call valid.
  std::span<const int> valid() const;
  // Returns the reward. REQUIRES: one of actions().
  double act(int action);

  const Plan& plan() const { return plan_; }
  std::int64_t evaluations() const { return evaluate_.count(); }
  double dead_end() const { return dead_end_; }

 private:
  double offload(const Variable& variable);
  double remove(int id);
  void mark(const Variable& variable, Action action);
  void do_nothing();
  void take_off(const Variable& variable);
  // Looks for the next state with a choice; the reward of getting there, if that ends the episode.
  double settle();
  bool try_to_finish();
  void list_actions();
  void update_next_above();
  void time_copies();
  GapId swaps_of(BlockId block) const;
  bool blocked() const { return next_above_[static_cast<std::size_t>(position_)] == position_; }
  OpIndex next_stop(OpIndex after) const;
  Nanoseconds remaking(int id) const;
  Nanoseconds prefetch_from(const Variable& variable) const;

  const PlanningProblem& problem_;
  const std::vector<Variable>& variables_;
  const Graph& graph_;
  const OpIndex n_;
  PlainClock clock_;
  HostCopies host_;
  Evaluator evaluate_;
  std::vector<OpIndex> stops_;  // ops at which variables become idle, ascending
  double dead_end_ = 0;

  Plan plan_;
  std::vector<Action> decided_;      // by variable
  std::vector<Bytes> need_;          // by op: what must be present, as far as is decided
  std::vector<OpIndex> next_above_;  // by op: the first at or after it that needs more than the limit, or n
  OpIndex position_ = 0;             // the next op to run
  Nanoseconds delay_ = 0;
  PrefetchQueue prefetches_;
  double sum_ = 0;  // of rewards
  bool finished_ = false;
  std::optional<StepResult> outcome_;
  std::vector<int> actions_;
};

}  // namespace ebb::dqn
