// A Program seen as a chain ([OFF] section 6.1): its ops as F_0 … F_L, B_L … B_0, with branches grouped into
// virtual layers. How the cuts are found is in docs/notes/chain.md.
#pragma once

#include <vector>

#include "machine/machine.h"
#include "plan/gaps.h"
#include "plan/plan.h"
#include "planners/chain/chain.h"

namespace ebb {

// What F_i and B_i are in the Program, and what x_i consists of.
struct ChainPart {
  OpRange forward;
  OpRange backward;  // may be empty
  std::vector<GapId>
      gaps;  // of the blocks of x_i: each from its last use in forward to its first in backward
  bool operator==(const ChainPart&) const = default;
};

struct ChainView {
  Chain chain;
  std::vector<ChainPart> parts;  // one per layer
  std::vector<BlockId> skips;  // activations that reach over whole layers: they count from their last reader
  Bytes base = 0;              // persistent and unmanaged: a limit less this is the chain's memory
};

// With times and bandwidth (the slower direction) of the machine. Works for every Program (plan/turn.h says
// where it turns). REQUIRES: at least one op.
ChainView view_as_chain(const Program& program, const Gaps& gaps, const Machine& machine);

// Swaps for the gaps of all offloaded activations, with default timing.
Plan plan_of(const ChainView& view, const Gaps& gaps, const OffloadSet& offloaded);

}  // namespace ebb
