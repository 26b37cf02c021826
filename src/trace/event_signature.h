// A number per event that does not depend on addresses or ids: what was called, on how many bytes, in which
// roles.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/block_history.h"
#include "trace/trace.h"

namespace ebb {

// Equal for events that could be the same step of two iterations. Times and workspace are left out: they
// vary. Which block is meant is left out too: block_repeat.h decides that exactly.
std::vector<std::uint64_t> event_signatures(const Trace& trace, const std::vector<BlockHistory>& blocks);

}  // namespace ebb
