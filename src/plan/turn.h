// Where forward ends and backward begins.
#pragma once

#include "trace/program.h"

namespace ebb {

// The first op of the backward pass: by its phase; without phases the first op whose name says "backward";
// without either, the op after the peak of the demand.
OpIndex find_turn(const Program& program);

}  // namespace ebb
