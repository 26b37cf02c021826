#include "runtime/tracker.h"

#include <algorithm>

namespace ebb {
namespace {

constexpr OpIndex kMostLeftOut = 8;      // ops that may be missing in a row
constexpr std::int64_t kEnoughOps = 16;  // in a row at only one place: the program is there

// Ops from each access of a block to its next one, cyclically.
OpIndex distance_to_next(const Program& program, BlockId block, OpIndex op) {
  const auto accesses = program.accesses(block);
  const auto next = std::upper_bound(accesses.begin(), accesses.end(), op,
                                     [](OpIndex at, const BlockAccess& access) { return at < access.op; });
  if (next != accesses.end()) return next->op - op;
  return accesses.empty() ? program.op_count() : accesses.front().op + program.op_count() - op;
}

}  // namespace

Tracker::Tracker(std::shared_ptr<const ScriptedIteration> iteration)
    : iteration_(std::move(iteration)),
      bound_(iteration_->program.blocks().size(), nullptr),
      birth_use_in_(iteration_->program.blocks().size(), 0) {
  const Program& program = iteration_->program;
  for (OpIndex i = 0; i < op_count(); ++i) {
    first_expected_.push_back(static_cast<std::int32_t>(expected_operands_.size()));
    for (const ScriptOperand& operand : script(i).operands)
      expected_operands_.push_back(
          {.bytes = operand.bytes,
           .block = operand.block,
           .next_use_in = operand.block < 0 ? 0 : distance_to_next(program, operand.block, i),
           .reads = operand.reads,
           .writes = operand.writes,
           .side_effect = operand.side_effect});
    for (const BlockId block : program.op(i).births)
      birth_use_in_[static_cast<std::size_t>(block)] = distance_to_next(program, block, i);
  }
  first_expected_.push_back(static_cast<std::int32_t>(expected_operands_.size()));
}

Tracker::~Tracker() {
  for (PagedBlock* block : bound_)
    if (block) block->follower = nullptr, block->home = kAnywhere;
}

BlockId Tracker::block_of(const PagedBlock& block) const {
  return block.follower ? static_cast<BlockId>(block.follower - bound_.data()) : -1;
}

void Tracker::bind(BlockId id, PagedBlock& block) {
  PagedBlock*& slot = bound_[static_cast<std::size_t>(id)];
  if (slot == &block) return;
  if (slot) slot->follower = nullptr, slot->home = kAnywhere;
  if (block.follower) *block.follower = nullptr;
  slot = &block;
  block.follower = &slot;
}

bool Tracker::looks_like(OpIndex op, const OpSeen& seen) const {
  const std::span<const Expected> wanted = expected(op);
  if (seen.operands.size() > wanted.size() || iteration_->program.op(op).name != seen.name) return false;
  for (std::size_t k = 0; k < seen.operands.size(); ++k) {
    const Operand& operand = seen.operands[k];
    if (wanted[k].bytes != operand.block->bytes || wanted[k].writes != operand.changes() ||
        wanted[k].reads != (operand.reads || operand.side_effect) ||
        wanted[k].side_effect != operand.side_effect)
      return false;
  }
  return true;
}

bool Tracker::has_its_blocks(OpIndex op, const OpSeen& seen) const {
  const std::span<const Expected> wanted = expected(op);
  for (std::size_t k = 0; k < seen.operands.size(); ++k)
    if (wanted[k].block >= 0 && bound(wanted[k].block) != seen.operands[k].block) return false;
  return true;
}

std::optional<OpIndex> Tracker::ahead(const OpSeen& seen) const {
  if (seen.operands.empty()) return std::nullopt;  // says too little to jump for
  for (OpIndex d = 1; d <= std::min<OpIndex>(kMostLeftOut, op_count() - 1 - place_); ++d)
    if (is(place_ + d, seen)) return place_ + d;
  if (place_ != 0 && is(0, seen)) return 0;
  return std::nullopt;
}

void Tracker::run(OpIndex op, const OpSeen& seen, std::int64_t now) {
  if (op != place_) next_malloc_ = 0;
  place_ = running_ = op;
  now_ = now;
  suspended_ = false;
  ++in_a_row_;
  const std::span<const Expected> wanted = expected(op);
  for (std::size_t k = 0; k < seen.operands.size(); ++k) {
    if (wanted[k].block < 0) continue;
    PagedBlock& block = *seen.operands[k].block;
    bind(wanted[k].block, block);
    block.next_use = now + wanted[k].next_use_in;
  }
  const auto& mallocs = script(op).mallocs;
  while (next_malloc_ < mallocs.size() && !mallocs[next_malloc_].inside) ++next_malloc_;
  first_inside_ = next_malloc_;
}

Tracker::Verdict Tracker::op_begins(const OpSeen& seen, std::int64_t now) {
  running_ = kNoOp;
  if (!known_) {
    if (!search(seen)) return Verdict::unknown;
    in_a_row_ = 0;
    run(place_, seen, now);
    return Verdict::found;
  }
  if (looks_like(place_, seen) && (!suspended_ || has_its_blocks(place_, seen))) {
    // The same op on other blocks is still the op: the plan goes on with those.
    if (complete() && !has_its_blocks(place_, seen)) ++deviations_;
    run(place_, seen, now);
    return Verdict::expected;
  }
  if (const std::optional<OpIndex> place = ahead(seen)) {
    ++deviations_;
    candidates_.clear();
    run(*place, seen, now);
    return Verdict::jumped;
  }
  if (!suspended_) ++deviations_, candidates_.clear();
  suspended_ = true;
  if (!search(seen)) return Verdict::unknown;
  in_a_row_ = 0;
  run(place_, seen, now);
  return Verdict::found;
}

bool Tracker::search(const OpSeen& seen) {
  std::erase_if(candidates_, [&](OpIndex& at) {
    at = (at + 1) % op_count();
    return !looks_like(at, seen);
  });
  ++candidate_run_;
  if (candidates_.empty()) {
    candidate_run_ = 1;
    for (OpIndex i = 0; i < op_count(); ++i)
      if (looks_like(i, seen)) candidates_.push_back(i);
  }
  if (candidates_.size() != 1 || candidate_run_ < std::min<std::int64_t>(kEnoughOps, op_count()))
    return false;
  place_ = candidates_.front();
  candidates_.clear();
  known_ = true;
  return true;
}

void Tracker::op_ended() {
  if (running_ == kNoOp) return;
  running_ = kNoOp;
  place_ = (place_ + 1) % op_count();
  next_malloc_ = 0;
}

const ScriptMalloc* Tracker::expect_malloc(Bytes bytes) {
  expected_ = nullptr;
  if (!on_the_way()) return nullptr;
  const auto& mallocs = script(place_).mallocs;
  const bool inside = running_ != kNoOp;
  const bool listed = next_malloc_ < mallocs.size() && mallocs[next_malloc_].inside == inside;
  if (listed && mallocs[next_malloc_].bytes == bytes) return expected_ = &mallocs[next_malloc_++];
  if (inside && complete()) ++deviations_;
  // Smaller than the one it stands for (a shorter batch): not its block, but its room.
  return listed && inside && bytes < mallocs[next_malloc_].bytes ? &mallocs[next_malloc_++] : nullptr;
}

void Tracker::malloced(PagedBlock& block) {
  if (!expected_ || expected_->block < 0) return;
  bind(expected_->block, block);
  block.next_use = now_ + birth_use_in_[static_cast<std::size_t>(expected_->block)];
  expected_ = nullptr;
}

}  // namespace ebb
