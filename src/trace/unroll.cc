#include "trace/unroll.h"

#include <algorithm>

namespace ebb {
namespace {

class Player {
 public:
  explicit Player(const Program& program)
      : program_(program), ids_(program.blocks().size()), deaths_(program.ops().size()), builder_(trace_) {
    trace_.name = program.info().name;
    trace_.unmanaged = program.info().unmanaged;
    step_ = std::max(program.info().measured_step, program.compute_time());
    for (const Op& op : program.ops()) step_ = std::max(step_, op.issue);
    for (BlockId b = 0; b < program.block_count(); ++b) {
      const Block& block = program.block(b);
      if (block.death != kNoOp) deaths_[static_cast<std::size_t>(block.death)].push_back(b);
      if (block.lifetime != Lifetime::local) builder_.malloc(fresh_id(b), block.bytes);
    }
  }

  void play() {
    for (OpIndex i = 0; i < program_.op_count(); ++i) {
      play_op(program_.op(i));
      for (BlockId b : deaths_[static_cast<std::size_t>(i)]) builder_.free(id(b));
    }
    now_ += step_;
  }

  Trace take() { return std::move(trace_); }

 private:
  BlockId id(BlockId b) const { return ids_[static_cast<std::size_t>(b)]; }
  BlockId fresh_id(BlockId b) { return ids_[static_cast<std::size_t>(b)] = next_id_++; }

  void play_op(const Op& op) {
    accesses_.clear();
    memory_.clear();
    for (BlockId b : op.births)
      memory_.push_back({.block = fresh_id(b), .bytes = program_.block(b).bytes, .is_malloc = true});
    for (Access access : op.accesses) {
      access.block = id(access.block);
      accesses_.push_back(access);
    }
    builder_.exec({.name = op.name,
                   .phase = op.phase,
                   .replayable = op.replayable,
                   .random = op.random,
                   .duration = op.duration,
                   .issue = now_ + op.issue,
                   .workspace = op.workspace,
                   .accesses = accesses_,
                   .memory = memory_});
  }

  const Program& program_;
  std::vector<BlockId> ids_;
  std::vector<std::vector<BlockId>> deaths_;
  Trace trace_;
  TraceBuilder builder_;
  BlockId next_id_ = 0;
  Nanoseconds step_ = 0;
  Nanoseconds now_ = 0;
  std::vector<Access> accesses_;
  std::vector<MemoryEvent> memory_;
};

}  // namespace

Trace unroll(const Program& program, int iterations) {
  Player player(program);
  for (int i = 0; i < iterations; ++i) player.play();
  return player.take();
}

}  // namespace ebb
