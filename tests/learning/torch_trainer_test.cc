#include "learning/torch_trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planners/dqn/network.h"
#include "planners/dqn/reference_network.h"
#include "planners/dqn/small_step.h"
#include "random_programs.h"

namespace ebb::learning {
namespace {

using namespace dqn;

struct Case {
  ChainProblem chain{10, 5 * 150};
  std::vector<std::vector<int>> valid;
  std::vector<Sample> samples;

  explicit Case(std::uint64_t seed, int count = 12) {
    Random random(seed);
    const int nodes = chain.graph.size();
    for (int i = 0; i < count; ++i) {
      valid.emplace_back();
      for (int v = 1; v < nodes; ++v)
        if (random.chance(25)) valid.back().push_back(v);
    }
    for (const std::vector<int>& nodes_valid : valid)
      samples.push_back({nodes_valid, random.between(0, nodes - 1), random.between(0, nodes - 1),
                         -0.01 * random.between(0, 100)});
  }
};

TEST(TorchTrainer, MatchesTheEquationsAndTheNetworkThatActs) {
  const Case c(1);
  const Weights weights = Weights::random(12, 2);
  const std::vector<double> q = make_torch_trainer(c.chain.graph, weights)->q(c.samples);
  Network acting(c.chain.graph, weights);
  for (std::size_t i = 0; i < q.size(); ++i) {
    const Sample& sample = c.samples[i];
    const ReferenceNetwork reference(c.chain.graph, weights, {sample.valid.begin(), sample.valid.end()});
    EXPECT_NEAR(q[i], reference.q(sample.current, sample.action), 1e-5);
    acting.set_valid(sample.valid);
    EXPECT_NEAR(q[i], acting.q(sample.current, sample.action), 1e-5);
  }
}

double loss(const Case& c, const Weights& weights) {
  double sum = 0;
  for (const Sample& sample : c.samples) {
    const ReferenceNetwork reference(c.chain.graph, weights, {sample.valid.begin(), sample.valid.end()});
    const double miss = sample.target - reference.q(sample.current, sample.action);
    sum += miss * miss;
  }
  return sum / static_cast<double>(c.samples.size());
}

TEST(TorchTrainer, TheLossIsTheMeanOfEquationFour) {
  const Case c(3);
  const Weights weights = Weights::random(6, 4);
  EXPECT_NEAR(make_torch_trainer(c.chain.graph, weights)->fit(c.samples, 0), loss(c, weights), 1e-5);
}

// Adam's first step has the length of the rate in every entry, against the sign of its gradient.
TEST(TorchTrainer, MovesEveryWeightDownTheSlopeOfTheEquations) {
  const Case c(5, 4);
  const Weights before = Weights::random(4, 6);
  const auto trainer = make_torch_trainer(c.chain.graph, before);
  trainer->fit(c.samples, 1e-4);
  const Weights after = trainer->weights();
  constexpr float kStep = 1e-3F;
  int compared = 0;
  for (std::size_t i = 0; i < before.matrices.size(); ++i)
    for (Eigen::Index k = 0; k < before.matrices[i].size(); ++k) {
      Weights up = before, down = before;
      up.matrices[i](k) += kStep;
      down.matrices[i](k) -= kStep;
      const double slope = (loss(c, up) - loss(c, down)) / (2 * static_cast<double>(kStep));
      if (std::abs(slope) < 1e-3) continue;
      ++compared;
      const double moved = static_cast<double>(after.matrices[i](k) - before.matrices[i](k));
      EXPECT_LT(moved * slope, 0) << "matrix " << i + 1 << ", entry " << k;
    }
  EXPECT_GT(compared, 20);
}

TEST(TorchTrainer, FitsWhatItIsShown) {
  const Case c(7, 8);
  const auto trainer = make_torch_trainer(c.chain.graph, Weights::random(16, 8));
  const double first = trainer->fit(c.samples, 3e-3);
  double last = first;
  for (int i = 0; i < 300; ++i) last = trainer->fit(c.samples, 3e-3);
  EXPECT_LT(last, first / 5);
}

}  // namespace
}  // namespace ebb::learning
