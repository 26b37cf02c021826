// One particle of [HOME]: its policy, the best it has been, and the update of Alg. 3.
#pragma once

#include <random>

#include "planners/mixed/policy.h"

namespace ebb {

// The actions that may be chosen, by feature map; `keep` is always one of them.
using Choices = std::vector<std::vector<Action>>;

class Particle {
 public:
  explicit Particle(std::uint64_t seed) : random_(seed) {}

  // Starts from this policy, or from a random one: how much is kept and how much of the rest is swapped
  // differs from particle to particle, so that the swarm covers tight limits and wide ones.
  void start(Policy policy, PolicyJudge& judge);
  Policy draw(const Choices& choices);
  // A copy of `best` with a random share of its actions drawn anew.
  Policy draw_near(const Policy& best, const Choices& choices);

  // Alg. 3 for this particle: map by map the action of `leader` (P1) or of the particle's own best (P2),
  // whichever makes the current policy better. What is known is not judged again; at most `quota` judgements.
  // False if that did not lead to a new own best.
  bool update(const Policy& leader, PolicyJudge& judge, std::int64_t quota);

  const Policy& policy() const { return policy_; }
  const Score& score() const { return score_; }
  // The best of all policies this particle ever tried.
  const Policy& record() const { return record_; }
  const Score& record_score() const { return record_score_; }

 private:
  Score judged(PolicyJudge& judge);
  double share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  std::mt19937_64 random_;
  Policy policy_, best_, record_;
  Policy leader_;         // of the last update
  bool settled_ = false;  // the last update changed nothing, and would not again for the same leader
  Score score_, best_score_, record_score_;
};

}  // namespace ebb
