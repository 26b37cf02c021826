// What no plan can do without: an op's own operands, births and workspace, and what never moves.
#pragma once

#include "plan/gaps.h"

namespace ebb {

struct OpNeed {
  OpIndex op = 0;
  Bytes bytes = 0;  // unmanaged and blocks too small to move included
};

// The op that needs most. A limit below this is out of reach for every planner.
OpNeed largest_op_need(const Program& program);

}  // namespace ebb
