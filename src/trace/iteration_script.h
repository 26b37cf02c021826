// An iteration as a host sees it go by: what each op of a Program asks for, in order, so that whoever watches
// the same program again can tell where it is and which of its blocks is which.
//
//   op 17  conv   operands: block 4 (read), block 9 (read)   mallocs: 2 MiB → block 31, 512 KiB → workspace
#pragma once

#include <vector>

#include "trace/iteration.h"

namespace ebb {

// What is malloc'd or used and is no block of the Program.
inline constexpr BlockId kOnceInAWhile = -2;  // alive for longer than an iteration: unmanaged
inline constexpr BlockId kInsideOnly = -3;    // gone when its op ends: workspace

// A malloc of an op: before it (on its own) or inside it.
struct ScriptMalloc {
  Bytes bytes = 0;
  BlockId block = kInsideOnly;
  bool inside = true;
  bool operator==(const ScriptMalloc&) const = default;
};

// What an op is called with; not what is born in it. `block` may be kOnceInAWhile.
struct ScriptOperand {
  BlockId block = 0;
  Bytes bytes = 0;
  bool reads = false;
  bool writes = false;
  bool side_effect = false;
  bool operator==(const ScriptOperand&) const = default;
};

struct ScriptOp {
  std::vector<ScriptMalloc> mallocs;
  std::vector<ScriptOperand> operands;  // in the order of the call, a block once
  bool operator==(const ScriptOp&) const = default;
};

struct ScriptedIteration {
  Program program;
  std::vector<ScriptOp> script;  // by op of the program
};

// As extract_iteration, and what to expect of it.
ScriptedIteration extract_script(const Trace& trace, const std::vector<BlockHistory>& blocks,
                                 const Detection& detection);

}  // namespace ebb
