// What [HOME], Capuchin and SuperNeurons decide about: results of forward that backward reads again.
#pragma once

#include <vector>

#include "plan/gaps.h"

namespace ebb {

// The idle time over the turn of a block that forward made and backward reads.
struct FeatureMap {
  GapId gap = 0;
  BlockId block = 0;
  Bytes bytes = 0;
  OpIndex maker = kNoOp;     // the op that wrote its content
  bool remakable = false;    // its content can be computed again
  Nanoseconds remaking = 0;  // what that takes if everything else is there, as recorded
  std::vector<OpIndex> ops;  // that run for it then
};

// In the order in which forward is done with them: by the gap's `from`, then by gap.
std::vector<FeatureMap> find_feature_maps(const Program& program, const Gaps& gaps);

}  // namespace ebb
