// Where gradients come from. The core has none of its own: learning/ implements this with libtorch.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "planners/dqn/graph.h"
#include "planners/dqn/weights.h"

namespace ebb::dqn {

// One sample of eq. 4: the state it was taken in, the action, and y of eq. 5.
struct Sample {
  std::span<const int> valid;
  int current = 0;
  int action = 0;
  double target = 0;
};

class Trainer {
 public:
  virtual ~Trainer() = default;
  // Q̂ of each sample, by the same code whose gradients are taken.
  virtual std::vector<double> q(std::span<const Sample> batch) = 0;
  // One step of this length down the gradient of the mean of eq. 4; returns that mean.
  virtual double fit(std::span<const Sample> batch, double rate) = 0;
  virtual Weights weights() const = 0;
};

using MakeTrainer = std::unique_ptr<Trainer> (*)(const Graph& graph, const Weights& start);

}  // namespace ebb::dqn
