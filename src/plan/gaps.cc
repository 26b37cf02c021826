#include "plan/gaps.h"

namespace ebb {
namespace {

// The block's accesses in its own time: from its birth on, or from op 0 for a persistent block; unrolled.
std::vector<BlockAccess> in_block_time(const Program& program, BlockId id) {
  const Block& block = program.block(id);
  const auto accesses = program.accesses(id);
  std::vector<BlockAccess> ordered;
  for (const BlockAccess& access : accesses)
    if (block.lifetime != Lifetime::wrapping || access.op >= block.birth) ordered.push_back(access);
  if (block.lifetime == Lifetime::wrapping)
    for (BlockAccess access : accesses) {
      if (access.op > block.death) break;
      access.op += program.op_count();
      ordered.push_back(access);
    }
  return ordered;
}

}  // namespace

Gaps::Gaps(const Program& program) {
  const OpIndex n = program.op_count();
  first_.push_back(0);
  for (BlockId b = 0; b < program.block_count(); ++b) {
    if (program.managed(b)) {
      const Block& block = program.block(b);
      const auto accesses = in_block_time(program, b);
      auto add = [&](const BlockAccess& access, OpIndex to, GapKind kind) {
        const OpIndex shift = access.op >= n ? n : 0;
        to -= shift;
        if (kind == GapKind::between && to >= n) kind = GapKind::wrapping;
        gaps_.push_back({b, access.op - shift, to, kind, access.version});
      };
      for (std::size_t i = 0; i + 1 < accesses.size(); ++i)
        if (accesses[i + 1].op > accesses[i].op + 1) add(accesses[i], accesses[i + 1].op, GapKind::between);
      const BlockAccess& last = accesses.back();
      if (block.lifetime != Lifetime::persistent)
        add(last, block.death + 1 + (block.lifetime == Lifetime::wrapping ? n : 0), GapKind::trailing);
      else if (accesses.front().op + n > last.op + 1)
        add(last, accesses.front().op + n, GapKind::between);
    }
    first_.push_back(count());
  }
}

GapId Gaps::find(BlockId b, OpIndex from) const {
  for (GapId g = first(b); g < last(b); ++g)
    if ((*this)[g].from == from) return g;
  return -1;
}

}  // namespace ebb
