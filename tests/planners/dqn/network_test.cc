#include "planners/dqn/network.h"

#include <gtest/gtest.h>

#include "planners/dqn/reference_network.h"
#include "planners/dqn/small_step.h"
#include "random_programs.h"

namespace ebb::dqn {
namespace {

constexpr double kClose = 1e-5;

TEST(DqnNetwork, MatchesTheEquationsWrittenOutSlowly) {
  const ChainProblem chain(10, 5 * 150);
  const Weights weights = Weights::random(12, 3);
  Network network(chain.graph, weights);
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    std::set<int> valid;
    for (int v = 1; v < chain.graph.size(); ++v)
      if (random.between(0, 4) == 0) valid.insert(v);
    network.set_valid(std::vector<int>(valid.begin(), valid.end()));
    const ReferenceNetwork reference(chain.graph, weights, valid);
    for (int current = 0; current < chain.graph.size(); current += 3)
      for (int action = 0; action < chain.graph.size(); action += 2)
        EXPECT_NEAR(network.q(current, action), reference.q(current, action), kClose);
  }
}

TEST(DqnNetwork, ChangesOnlyWhatAnActionReachesAndGetsTheSame) {
  const ChainProblem chain(40, 15 * 150);
  const Weights weights = Weights::random(8, 4);
  Network kept(chain.graph, weights);
  Random random(6);
  std::set<int> valid;
  for (int round = 0; round < 60; ++round) {
    const int v = random.between(1, chain.graph.size() - 1);
    if (!valid.erase(v)) valid.insert(v);
    const std::vector<int> nodes(valid.begin(), valid.end());
    kept.set_valid(nodes);
    Network fresh(chain.graph, weights);
    fresh.set_valid(nodes);
    const int current = random.between(0, chain.graph.size() - 1);
    for (int action = 0; action < chain.graph.size(); action += 5)
      EXPECT_NEAR(kept.q(current, action), fresh.q(current, action), kClose) << "round " << round;
  }
}

TEST(DqnNetwork, NewWeightsApplyToTheStateAsItIs) {
  const ChainProblem chain(10, 5 * 150);
  const Weights other = Weights::random(12, 9);
  Network network(chain.graph, Weights::random(12, 8));
  network.set_valid(std::vector<int>{2, 5});
  network.set_weights(other);
  EXPECT_NEAR(network.q(3, 5), ReferenceNetwork(chain.graph, other, {2, 5}).q(3, 5), kClose);
}

TEST(DqnNetwork, ChoosesTheActionWithTheHighestValue) {
  const ChainProblem chain(10, 5 * 150);
  Network network(chain.graph, Weights::random(12, 10));
  const std::vector<int> actions = {0, 3, 7, 11};
  const Network::Choice choice = network.best(4, actions);
  for (const int action : actions) EXPECT_LE(network.q(4, action), choice.q);
  EXPECT_DOUBLE_EQ(network.q(4, choice.action), choice.q);
}

}  // namespace
}  // namespace ebb::dqn
