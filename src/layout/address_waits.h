// Who has to be gone before an address is used again: a layout as a simulation sees it.
#pragma once

#include "layout/packing.h"
#include "layout/residencies.h"
#include "simulate/replay.h"

namespace ebb::layout {

// For every command that takes memory, the commands whose end frees the addresses it takes
// (simulate/replay.h). REQUIRES: an arena made from a schedule, and a valid layout of it.
AddressWaits address_waits(const ArenaProblem& arena, const Layout& layout);

}  // namespace ebb::layout
