#include "trace/rotate.h"

#include <algorithm>
#include <compare>

namespace ebb {
namespace {

bool ends_update(const Program& program, OpIndex boundary) {
  const OpIndex before = boundary == 0 ? program.op_count() - 1 : boundary - 1;
  return program.op(before).phase == Phase::update && program.op(boundary).phase != Phase::update;
}

// Bytes of non-persistent blocks alive on both sides of the boundary before each op.
std::vector<Bytes> crossing_load(const Program& program) {
  std::vector<Bytes> change(static_cast<std::size_t>(program.op_count()) + 1, 0);
  for (const Block& block : program.blocks()) {
    if (block.lifetime == Lifetime::persistent) continue;
    if (block.lifetime == Lifetime::wrapping) change[0] += block.bytes;
    change[static_cast<std::size_t>(block.birth) + 1] += block.bytes;
    change[static_cast<std::size_t>(block.death) + 1] -= block.bytes;
  }
  std::vector<Bytes> load(static_cast<std::size_t>(program.op_count()));
  Bytes now = 0;
  for (std::size_t i = 0; i < load.size(); ++i) load[i] = now += change[i];
  return load;
}

// Does one op come before another in an order of ops that knows no ids? Names first, then sizes.
std::strong_ordering compare(const Program& program, OpIndex a, OpIndex b) {
  const Op& first = program.op(a);
  const Op& second = program.op(b);
  if (const auto order = first.name <=> second.name; order != 0) return order;
  const auto bytes_of = [&](const Access& access) { return program.block(access.block).bytes; };
  return std::lexicographical_compare_three_way(
      first.accesses.begin(), first.accesses.end(), second.accesses.begin(), second.accesses.end(),
      [&](const Access& x, const Access& y) { return bytes_of(x) <=> bytes_of(y); });
}

// The same for two rotations.
bool is_before(const Program& program, OpIndex a, OpIndex b) {
  const OpIndex count = program.op_count();
  for (OpIndex k = 0; k < count; ++k)
    if (const auto order = compare(program, (a + k) % count, (b + k) % count); order != 0) return order < 0;
  return false;
}

}  // namespace

OpIndex least_load_boundary(const Program& program) {
  const std::vector<Bytes> load = crossing_load(program);
  OpIndex best = 0;
  for (OpIndex i = 1; i < program.op_count(); ++i) {
    const Bytes here = load[static_cast<std::size_t>(i)], there = load[static_cast<std::size_t>(best)];
    const bool updated_here = ends_update(program, i), updated_there = ends_update(program, best);
    if (here != there ? here < there
                      : (updated_here != updated_there ? updated_here : is_before(program, i, best)))
      best = i;
  }
  return best;
}

std::vector<BlockId> numbers_in_order(const Program& program) {
  std::vector<BlockId> numbers(program.blocks().size(), -1);
  BlockId next = 0;
  const auto number = [&](BlockId block) {
    BlockId& n = numbers[static_cast<std::size_t>(block)];
    if (n < 0) n = next++;
  };
  for (const Op& op : program.ops()) {
    for (const BlockId block : op.births) number(block);
    for (const Access& access : op.accesses) number(access.block);
  }
  for (BlockId block = 0; block < program.block_count(); ++block) number(block);
  return numbers;
}

Program renumbered(const Program& program, std::span<const BlockId> numbers) {
  const auto number = [&](BlockId block) { return numbers[static_cast<std::size_t>(block)]; };
  std::vector<Block> blocks(program.blocks().size());
  for (BlockId block = 0; block < program.block_count(); ++block)
    blocks[static_cast<std::size_t>(number(block))] = program.block(block);
  std::vector<Op> ops = program.ops();
  for (Op& op : ops) {
    for (BlockId& block : op.births) block = number(block);
    for (Access& access : op.accesses) access.block = number(access.block);
  }
  return Program::build(program.info(), std::move(ops), std::move(blocks));
}

Program rotate(const Program& program, OpIndex first) {
  const OpIndex count = program.op_count();
  const auto moved = [&](OpIndex i) { return i == kNoOp ? kNoOp : (i - first + count) % count; };
  std::vector<Block> blocks = program.blocks();
  for (Block& block : blocks) {
    if (block.lifetime == Lifetime::persistent) continue;
    block.birth = moved(block.birth);
    block.death = moved(block.death);
    block.lifetime = block.death < block.birth ? Lifetime::wrapping : Lifetime::local;
  }
  Nanoseconds step = program.info().measured_step;
  bool any_issue = false;
  for (const Op& op : program.ops()) {
    step = std::max(step, op.issue);
    any_issue = any_issue || op.issue > 0;
  }
  std::vector<Op> ops(program.ops().size());
  for (OpIndex i = 0; i < count; ++i) {
    Op op = program.op(i);
    const Nanoseconds since = op.issue - program.op(first).issue + (i < first ? step : 0);
    op.issue = any_issue ? std::max(Nanoseconds{0}, since) : 0;
    ops[static_cast<std::size_t>(moved(i))] = std::move(op);
  }
  return Program::build(program.info(), std::move(ops), std::move(blocks));
}

}  // namespace ebb
