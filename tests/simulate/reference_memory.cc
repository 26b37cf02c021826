#include "simulate/reference_memory.h"

namespace ebb {

ReferenceMemory::ReferenceMemory(const Program& program, const Gaps& gaps,
                                 const ReferencePositions& positions)
    : program_(program), gaps_(gaps), positions_(positions) {
  for (BlockId b = 0; b < program_.block_count(); ++b) {
    if (program_.block(b).lifetime == Lifetime::local) continue;
    const int life = program_.block(b).lifetime == Lifetime::wrapping ? -1 : 0;
    const bool present = positions_.present_at_start(b);
    bodies_[{b, life}] = {.state = present ? State::resident : State::on_host};
  }
}

std::pair<BlockId, int> ReferenceMemory::body_key(GapId gap, int iteration) const {
  const BlockId b = gaps_[gap].block;
  const Block& block = program_.block(b);
  switch (block.lifetime) {
    case Lifetime::persistent:
      return {b, 0};
    case Lifetime::local:
      return {b, iteration};
    case Lifetime::wrapping:
      return {b, gaps_[gap].from >= block.birth ? iteration : iteration - 1};
  }
  return {b, 0};
}

Bytes ReferenceMemory::resident_bytes() const {
  Bytes bytes = 0;
  for (const auto& [key, body] : bodies_)
    if (body.holds_memory()) bytes += program_.block(key.first).bytes;
  for (const auto& [version, size] : temporaries_) bytes += size;
  return bytes;
}

Bytes ReferenceMemory::wanted(OpIndex op, const ReferenceStep* step) const {
  Bytes bytes = program_.op(op).workspace;
  if (!step) return bytes + program_.birth_bytes(op);
  for (VersionId v : step->allocates) bytes += positions_.bytes_of(v);
  return bytes;
}

void ReferenceMemory::begin_op(OpIndex op, int iteration) {
  workspace_ = program_.op(op).workspace;
  for (BlockId b : program_.op(op).births) bodies_[{b, iteration}] = {};
}

void ReferenceMemory::begin_step(const ReferenceStep& step) {
  workspace_ = program_.op(step.op).workspace;
  for (VersionId v : step.allocates) temporaries_[v] = positions_.bytes_of(v);
  for (const auto& [before, after] : step.in_place) {
    temporaries_.erase(before);
    temporaries_[after] = positions_.bytes_of(after);
  }
}

void ReferenceMemory::end_step(const ReferenceStep& step, int iteration) {
  for (VersionId v : step.frees) temporaries_.erase(v);
  for (GapId g : step.returns) {
    temporaries_.erase(gaps_[g].version);
    body(g, iteration).state = State::resident;
  }
}

void ReferenceMemory::end_lives(OpIndex op, int iteration) {
  for (auto& [key, life] : bodies_) {
    const auto& [block, born] = key;
    const Block& b = program_.block(block);
    const bool dies = b.death == op && born == (b.lifetime == Lifetime::wrapping ? iteration - 1 : iteration);
    if (!dies) continue;
    life.died = true;
    bool kept = life.state == State::leaving;  // its copy is running: until that has ended
    for (GapId g = gaps_.first(block); g < gaps_.last(block); ++g)
      if (gaps_[g].kind == GapKind::trailing && gaps_[g].to == op + 1) kept |= positions_.kept_past(g, op);
    if (!kept) life.state = State::dead;
  }
}

bool ReferenceMemory::has_operand(BlockId block, OpIndex op, int iteration) {
  const Block& b = program_.block(block);
  const bool old_life = b.lifetime == Lifetime::wrapping && op <= b.death;
  const int life = b.lifetime == Lifetime::persistent ? 0 : iteration - (old_life ? 1 : 0);
  const State state = bodies_[{block, life}].state;
  return state == State::resident || state == State::leaving;
}

}  // namespace ebb
