#include "planners/swap/layers.h"

#include <set>

namespace ebb {

Layers::Layers(const Program& program) {
  auto is_weight = [&](BlockId b) {
    return program.block(b).lifetime == Lifetime::persistent && program.managed(b);
  };
  bool any = false;
  for (BlockId b = 0; b < program.block_count(); ++b) any = any || is_weight(b);
  std::set<BlockId> used;  // by the layer so far
  for (OpIndex j = 0; j < program.op_count(); ++j) {
    std::vector<BlockId> weights;
    bool another = !any;
    for (const Access& access : program.op(j).accesses) {
      if (!is_weight(access.block)) continue;
      weights.push_back(access.block);
      another = another || !used.contains(access.block);
    }
    if (another || j == 0) {
      begins_.push_back(j);
      used.clear();
    }
    used.insert(weights.begin(), weights.end());
    layer_of_.push_back(count() - 1);
  }
}

}  // namespace ebb
