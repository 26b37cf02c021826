// A policy of [HOME]: one action per feature map; and how two of them compare.
#pragma once

#include <compare>
#include <limits>
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

// Scores policies one after the other, touching only the decisions that differ. Not thread-safe.
class PolicyJudge {
 public:
  PolicyJudge(const PlanningProblem& problem, const std::vector<FeatureMap>& maps)
      : maps_(maps), plan_(Plan::keep_all(problem.gaps)), evaluate_(problem) {}

  Score operator()(const Policy& policy);
  // The plan of the policy judged last.
  const Plan& plan() const { return plan_; }
  // Why the policy judged last cannot be carried out.
  const std::optional<Infeasible>& infeasible() const { return infeasible_; }
  std::int64_t count() const { return evaluate_.count(); }

 private:
  const std::vector<FeatureMap>& maps_;
  Plan plan_;
  Evaluator evaluate_;
  std::optional<Infeasible> infeasible_;
};

}  // namespace ebb
