// Short words for programs written as literals in tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "trace/program.h"

namespace ebb {

inline Access reads(BlockId b) { return {.block = b, .reads = true}; }
inline Access writes(BlockId b) { return {.block = b, .writes = true}; }
inline Access updates(BlockId b) { return {.block = b, .reads = true, .writes = true}; }

inline Op op(std::vector<Access> accesses, Nanoseconds duration = 10) {
  Op result;
  result.name = "op";
  result.duration = duration;
  result.accesses = std::move(accesses);
  return result;
}

inline Block local(Bytes bytes, OpIndex birth, OpIndex death) {
  return {.bytes = bytes, .lifetime = Lifetime::local, .birth = birth, .death = death};
}
inline Block wrapping(Bytes bytes, OpIndex birth, OpIndex death) {
  return {.bytes = bytes, .lifetime = Lifetime::wrapping, .birth = birth, .death = death};
}
inline Block persistent(Bytes bytes) { return {.bytes = bytes, .lifetime = Lifetime::persistent}; }

// Every block of at least a byte is managed.
inline Program literal_program(std::vector<Op> ops, std::vector<Block> blocks) {
  return Program::build({.name = "literal", .smallest_managed = 1}, std::move(ops), std::move(blocks));
}

// Activations of a chain of layers: born going forward, read going backward.
inline Program chain_of_layers(int layers, Bytes bytes, Nanoseconds op_time) {
  std::vector<Op> ops;
  std::vector<Block> blocks;
  for (OpIndex i = 0; i < layers; ++i) {
    std::vector<Access> accesses{writes(i)};
    if (i > 0) accesses.push_back(reads(i - 1));
    ops.push_back(op(accesses, op_time));
    ops.back().name = "forward" + std::to_string(i);
    blocks.push_back(local(bytes, i, 2 * layers - 1 - i));
  }
  for (OpIndex i = layers; i-- > 0;) {
    ops.push_back(op({reads(i)}, op_time));
    ops.back().name = "backward" + std::to_string(i);
  }
  return literal_program(std::move(ops), std::move(blocks));
}

inline Decision swap_it() { return {.action = Action::swap, .stays = {}}; }
inline Decision recompute_it(std::vector<OpRange> stays = {}) {
  return {.action = Action::recompute, .stays = std::move(stays)};
}

}  // namespace ebb
