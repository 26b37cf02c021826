// Layers as the order of ops shows them: one begins with every op that uses a weight its predecessor layer
// does not use. Backward and update have layers of their own.
#pragma once

#include <vector>

#include "trace/program.h"

namespace ebb {

class Layers {
 public:
  // Weights are persistent blocks that may move. Without any, every op is a layer.
  explicit Layers(const Program& program);

  int count() const { return static_cast<int>(begins_.size()); }
  // Ops and layers may be unrolled: layer `count()` is layer 0 of the next step.
  int of(OpIndex op) const {
    const auto n = static_cast<OpIndex>(layer_of_.size());
    return layer_of_[static_cast<std::size_t>(op % n)] + op / n * count();
  }
  OpIndex begin(int layer) const {
    const auto n = static_cast<OpIndex>(layer_of_.size());
    return begins_[static_cast<std::size_t>(layer % count())] + layer / count() * n;
  }

 private:
  std::vector<int> layer_of_;    // by op
  std::vector<OpIndex> begins_;  // by layer
};

}  // namespace ebb
