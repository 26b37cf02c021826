// The same iteration seen from another boundary.
#pragma once

#include <span>
#include <vector>

#include "trace/program.h"

namespace ebb {

// The op that begins the iteration if its boundary is put where the fewest bytes of non-persistent blocks
// cross it; of equal ones the end of the update, then whatever depends on the ops alone and not on where the
// program begins now.
OpIndex least_load_boundary(const Program& program);

// Op `first` becomes op 0. Blocks keep their ids; local ones that cross the new boundary become wrapping and
// the other way round. Issue times count from the new op 0's; if there are any, an op that moves behind the
// boundary gets the measured step (or the last issue, if that is later) added.
Program rotate(const Program& program, OpIndex first);

// By block: its number if blocks are counted as the ops show them, births first. Blocks that no op shows come
// last.
std::vector<BlockId> numbers_in_order(const Program& program);
// Every block gets the number given for it. REQUIRES: a permutation.
Program renumbered(const Program& program, std::span<const BlockId> numbers);

}  // namespace ebb
