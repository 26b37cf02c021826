// Random programs that obey every rule, and a form in which two programs that differ only in block numbers
// are equal.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "trace/program.h"

namespace ebb::testing {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  int between(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

// Ops have names of their own; every block is used, non-persistent ones by the op that brings them.
inline Program random_program(std::uint64_t seed) {
  Dice dice(seed);
  const int op_count = dice.between(2, 30), block_count = dice.between(1, 40);
  std::vector<Op> ops(static_cast<std::size_t>(op_count));
  std::vector<Block> blocks;
  Nanoseconds issue = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    ops[i].name = "op" + std::to_string(i);
    ops[i].duration = dice.between(0, 1000);
    ops[i].issue = issue += dice.between(0, 100);
    ops[i].workspace = dice.one_in(3) ? dice.between(1, 4096) : 0;
    ops[i].random = dice.one_in(10);
    ops[i].replayable = !dice.one_in(10);
  }
  for (BlockId b = 0; b < block_count; ++b) {
    Block block{.bytes = dice.between(0, 5) * 1024};
    const int birth = dice.between(0, op_count - 1), length = dice.between(1, op_count);
    const bool persistent = dice.one_in(3);
    if (persistent) {
      block.lifetime = Lifetime::persistent;
    } else {
      block.birth = birth;
      block.death = (birth + length - 1) % op_count;
      block.lifetime = birth + length > op_count ? Lifetime::wrapping : Lifetime::local;
      ops[static_cast<std::size_t>(birth)].births.push_back(b);
    }
    blocks.push_back(block);
    for (int k = 0; k < (persistent ? op_count : length); ++k) {
      const bool first = k == 0;
      if (!first && !dice.one_in(4)) continue;
      const bool writes = first ? !persistent || dice.one_in(2) : dice.one_in(3);
      ops[static_cast<std::size_t>((birth + k) % op_count)].accesses.push_back(
          {.block = b,
           .reads = !writes || dice.one_in(2),
           .writes = writes,
           .side_effect = !first && dice.one_in(8)});
    }
  }
  ProgramInfo info{.name = "random", .unmanaged = dice.between(0, 100), .measured_step = 1'000'000};
  return Program::build(info, ops, blocks);
}

// Blocks numbered by their first appearance among births and accesses; those that never appear are left out.
inline Program canonical(const Program& program) {
  std::vector<BlockId> numbers(program.blocks().size(), -1);
  std::vector<Block> blocks;
  const auto number = [&](BlockId b) {
    BlockId& n = numbers[static_cast<std::size_t>(b)];
    if (n < 0) {
      n = static_cast<BlockId>(blocks.size());
      blocks.push_back(program.block(b));
    }
    return n;
  };
  std::vector<Op> ops = program.ops();
  for (Op& op : ops) {
    for (BlockId& b : op.births) b = number(b);
    for (Access& access : op.accesses) access.block = number(access.block);
  }
  return Program::build(program.info(), ops, blocks);
}

inline OpIndex find_op(const Program& program, const std::string& name) {
  const auto& ops = program.ops();
  const auto op =
      std::find_if(ops.begin(), ops.end(), [&name](const Op& candidate) { return candidate.name == name; });
  return op == ops.end() ? kNoOp : static_cast<OpIndex>(op - ops.begin());
}

}  // namespace ebb::testing
