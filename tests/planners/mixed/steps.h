// Steps small enough to know by heart, for the planners that mix swapping and recomputing.
#pragma once

#include "plan/gaps.h"
#include "planners/planner.h"

namespace ebb {

inline Access read(BlockId b) { return {.block = b, .reads = true}; }
inline Access write(BlockId b) { return {.block = b, .writes = true}; }

// A byte per nanosecond each way, nothing else.
inline Machine plain_machine() {
  Machine machine;
  machine.bandwidth_in = machine.bandwidth_out = 1'000'000'000;
  return machine;
}

inline Op op(std::string name, Phase phase, Nanoseconds duration, std::vector<Access> accesses) {
  return {.name = std::move(name), .phase = phase, .duration = duration, .accesses = std::move(accesses)};
}

// Two layers and back; every op takes 100 ns but the cheap one, which takes 10.
//
//   op         0 conv  1 relu  2 conv  3 loss  4 back  5 back  6 back
//   0 input    R..........................................R....:  20 bytes, persistent
//   1 conv     W.......R....................R                      60 bytes
//   2 relu             W.......R.........R                         60 bytes
//   3 conv                     W.......R..R                        40 bytes
//   4 loss                             W..R                        50 bytes
//
// Peak: 230 bytes at ops 3 and 4. The gap of block 1 is (1, 5), that of block 2 (2, 4).
inline Program two_layers() {
  return Program::build({.name = "two layers", .smallest_managed = 30},
                        {op("convolution", Phase::forward, 100, {read(0), write(1)}),
                         op("relu", Phase::forward, 10, {read(1), write(2)}),
                         op("convolution", Phase::forward, 100, {read(2), write(3)}),
                         op("loss", Phase::forward, 100, {read(3), write(4)}),
                         op("convolution_backward", Phase::backward, 100, {read(2), read(3), read(4)}),
                         op("relu_backward", Phase::backward, 100, {read(1)}),
                         op("convolution_backward", Phase::backward, 100, {read(0)})},
                        {{20, Lifetime::persistent, kNoOp, kNoOp},
                         {60, Lifetime::local, 0, 5},
                         {60, Lifetime::local, 1, 4},
                         {40, Lifetime::local, 2, 4},
                         {50, Lifetime::local, 3, 4}});
}

}  // namespace ebb
