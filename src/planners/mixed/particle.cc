#include "planners/mixed/particle.h"

#include <algorithm>
#include <optional>

namespace ebb {

void Particle::start(Policy policy, PolicyJudge& judge) {
  policy_ = std::move(policy);
  score_ = judged(judge);
  best_ = policy_;
  best_score_ = score_;
  settled_ = false;
}

Policy Particle::draw(const Choices& choices) {
  const double keep = share();
  const double swap = share();
  Policy policy;
  policy.reserve(choices.size());
  for (const std::vector<Action>& actions : choices) {
    Action action = Action::keep;
    if (share() >= keep) action = share() < swap ? Action::swap : Action::recompute;
    if (std::find(actions.begin(), actions.end(), action) == actions.end()) action = actions.back();
    policy.push_back(action);
  }
  return policy;
}

Policy Particle::draw_near(const Policy& best, const Choices& choices) {
  const double changed = share() * share() * 0.25;
  Policy policy = best;
  for (std::size_t i = 0; i < policy.size(); ++i)
    if (share() < changed) policy[i] = choices[i][random_() % choices[i].size()];
  return policy;
}

Score Particle::judged(PolicyJudge& judge) {
  const Score score = judge(policy_);
  if (score < record_score_ || record_.empty()) {
    record_ = policy_;
    record_score_ = score;
  }
  return score;
}

bool Particle::update(const Policy& leader, PolicyJudge& judge, std::int64_t quota) {
  if (settled_ && leader == leader_) return false;
  const Policy before = policy_;
  leader_ = leader;
  std::optional<Score> known = score_;  // of policy_, where it has been judged since it changed
  std::size_t i = 0;
  for (; i < policy_.size() && quota >= 3; ++i) {  // two here, one at the end
    if (leader[i] == best_[i]) {
      if (policy_[i] != leader[i]) known.reset();
      policy_[i] = leader[i];
      continue;
    }
    auto with = [&](Action action) {
      if (policy_[i] == action && known) return *known;
      policy_[i] = action;
      --quota;
      return judged(judge);
    };
    // The action the policy has already goes first: its score may be known.
    const Action first = policy_[i] == best_[i] ? best_[i] : leader[i];
    const Action second = first == leader[i] ? best_[i] : leader[i];
    const Score of_first = with(first);
    known.reset();
    const Score of_second = with(second);
    const bool leads = first == leader[i] ? of_first < of_second : of_second < of_first;
    policy_[i] = leads ? leader[i] : best_[i];
    known = (policy_[i] == first) ? of_first : of_second;
  }
  score_ = known ? *known : judged(judge);
  settled_ = i == policy_.size() && policy_ == before && !(score_ < best_score_);
  if (!(score_ < best_score_)) return false;
  best_ = policy_;
  best_score_ = score_;
  return true;
}

}  // namespace ebb
