// A policy of [HOME]: one action per feature map; and how two of them compare.
#pragma once

#include <compare>
#include <limits>
#include <unordered_map>
#include <vector>

#include "planners/evaluator.h"
#include "planners/mixed/feature_maps.h"

namespace ebb {

using Policy = std::vector<Action>;  // by feature map

// Excess bytes over the limit first, so that a swarm without a member that fits still knows where to go.
struct Score {
  static constexpr Bytes kImpossible = std::numeric_limits<Bytes>::max();
  Bytes excess = kImpossible;  // kImpossible: it fails for another reason than memory
  Nanoseconds time = 0;        // 0 if it does not fit
  auto operator<=>(const Score&) const = default;
  bool fits() const { return excess == 0; }
};

// Scores policies one after the other. Incremental: only the actions that differ from the last policy are
// touched, and a policy that was scored before is recognised by a key kept up to date action by action. Not
// thread-safe.
class PolicyJudge {
 public:
  PolicyJudge(const PlanningProblem& problem, const std::vector<FeatureMap>& maps);

  Score operator()(const Policy& policy);
  // The plan of the policy scored last.
  const Plan& plan() const { return plan_; }
  // Simulates the policy scored last: why it cannot be carried out, if it cannot.
  std::optional<Infeasible> infeasible() { return evaluate_(plan_).infeasible; }
  // Scores asked for; and those that took a simulation.
  std::int64_t count() const { return count_; }
  std::int64_t simulated() const { return evaluate_.count(); }

 private:
  void set(std::size_t map, Action action);
  Score simulate();

  const std::vector<FeatureMap>& maps_;
  Policy policy_;
  Plan plan_;
  std::uint64_t key_ = 0;  // of policy_
  Evaluator evaluate_;
  std::unordered_map<std::uint64_t, Score> scores_;  // by key
  std::int64_t count_ = 0;
};

}  // namespace ebb
