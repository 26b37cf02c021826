#include "planners/mixed/policy.h"

namespace ebb {
namespace {

constexpr std::size_t kMostScores = 1 << 20;

// A random-looking word for each action of each map: the key of a policy is the exclusive or of its words.
std::uint64_t word(std::size_t map, Action action) {
  std::uint64_t x = (map * 4 + static_cast<std::uint64_t>(action) + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

PolicyJudge::PolicyJudge(const PlanningProblem& problem, const std::vector<FeatureMap>& maps)
    : maps_(maps),
      policy_(maps.size(), Action::keep),
      plan_(Plan::keep_all(problem.gaps)),
      evaluate_(problem) {}

Score PolicyJudge::operator()(const Policy& policy) {
  for (std::size_t i = 0; i < policy.size(); ++i)
    if (policy[i] != policy_[i]) set(i, policy[i]);
  ++count_;
  if (const auto known = scores_.find(key_); known != scores_.end()) return known->second;
  if (scores_.size() >= kMostScores) scores_.clear();
  return scores_[key_] = simulate();
}

void PolicyJudge::set(std::size_t map, Action action) {
  key_ ^= word(map, policy_[map]) ^ word(map, action);
  policy_[map] = action;
  plan_[maps_[map].gap].action = action;
}

Score PolicyJudge::simulate() {
  const StepResult step = evaluate_(plan_);
  if (!step.infeasible) return {.excess = 0, .time = step.step_time};
  if (step.infeasible->obstacle != Obstacle::too_large) return {};
  return {.excess = step.infeasible->needed - step.infeasible->available};
}

}  // namespace ebb
