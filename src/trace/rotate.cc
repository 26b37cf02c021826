#include "trace/rotate.h"

#include <algorithm>

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

}  // namespace

OpIndex least_load_boundary(const Program& program) {
  const std::vector<Bytes> load = crossing_load(program);
  OpIndex best = 0;
  for (OpIndex i = 1; i < program.op_count(); ++i) {
    const Bytes here = load[static_cast<std::size_t>(i)], there = load[static_cast<std::size_t>(best)];
    if (here < there || (here == there && ends_update(program, i) && !ends_update(program, best))) best = i;
  }
  return best;
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
