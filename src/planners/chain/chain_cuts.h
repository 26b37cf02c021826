// Where a Program's forward ops may be cut into layers, and which backward ops belong to which.
#pragma once

#include <vector>

#include "trace/program.h"

namespace ebb {

// The first ops of the layers, ascending from 0. Cuts ops [0, turn) where a single activation crosses. A
// stretch that holds more than `largest` of what backward reads is cut further: activations that reach far
// are left out of the count, the farthest first. REQUIRES: turn > 0.
std::vector<OpIndex> forward_cuts(const Program& program, OpIndex turn, double largest);

// By backward op (from `turn`): the forward op it is the backward of, as far as what it reads tells; never
// ascending.
std::vector<OpIndex> backward_twins(const Program& program, OpIndex turn);

}  // namespace ebb
