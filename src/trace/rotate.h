// The same iteration seen from another boundary.
#pragma once

#include "trace/program.h"

namespace ebb {

// The op that begins the iteration if its boundary is put where the fewest bytes of non-persistent blocks
// cross it; of equal ones the end of the update, then the first.
OpIndex least_load_boundary(const Program& program);

// Op `first` becomes op 0. Blocks keep their ids; local ones that cross the new boundary become wrapping and
// the other way round. Issue times count from the new op 0's; if there are any, an op that moves behind the
// boundary gets the measured step (or the last issue, if that is later) added.
Program rotate(const Program& program, OpIndex first);

}  // namespace ebb
