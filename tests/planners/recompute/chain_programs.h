// A chain of layers as [SUB] draws it, and what tests ask of it.
//
//   n = 4      F0 F1 F2 F3 | B3 B2 B1 B0       F_i reads result i − 1 and makes result i: 100 bytes;
//   position   0  1  2  3    4  5  6  7        B_i reads result i and the gradient before it: 1 byte
#pragma once

#include "literal_programs.h"
#include "machine/machine.h"

namespace ebb {

inline Program chain_program(int layers, Nanoseconds duration = 10) {
  std::vector<Op> ops;
  std::vector<Block> blocks;
  const OpIndex n = layers;
  for (OpIndex i = 0; i < n; ++i) {
    Op forward = op({writes(i)}, duration);
    if (i > 0) forward.accesses.push_back(reads(i - 1));
    forward.phase = Phase::forward;
    ops.push_back(forward);
    blocks.push_back(local(100, i, 2 * n - 1 - i));
  }
  for (OpIndex i = n - 1; i >= 0; --i) {
    Op backward = op({reads(i), writes(2 * n - 1 - i)}, duration);
    if (i < n - 1) backward.accesses.push_back(reads(2 * n - 2 - i));
    backward.phase = Phase::backward;
    ops.push_back(backward);
    blocks.push_back(local(1, 2 * n - 1 - i, i == 0 ? 2 * n - 1 : 2 * n - i));
  }
  return literal_program(std::move(ops), std::move(blocks));
}

inline Machine any_machine() {
  Machine machine;
  machine.bandwidth_in = machine.bandwidth_out = 1'000'000'000;
  return machine;
}

}  // namespace ebb
