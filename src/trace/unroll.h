// A Program played several times over: what a runtime would record of it.
#pragma once

#include "trace/program.h"
#include "trace/trace.h"

namespace ebb {

// Persistent blocks and the wrapping blocks' first instances are malloc'd first, then come `iterations` times
// the ops, births malloc'd inside their op and dead blocks freed after it, with fresh ids each time.
Trace unroll(const Program& program, int iterations);

}  // namespace ebb
