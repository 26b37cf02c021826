// A Program as a step trace, the format that import_step reads.
#pragma once

#include <string>

#include "trace/program.h"

namespace ebb {

// JSON, one op and one block a line. Importing it gives the same ops and blocks, an op's reads
// before its writes.
// REQUIRES: no block wraps over the boundary, no op is issued late, and all ops are replayable: the format
// cannot say so.
std::string export_step(const Program& program);

}  // namespace ebb
