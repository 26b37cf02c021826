#include "runtime/tracker.h"

#include <algorithm>
#include <unordered_set>

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
    : iteration_(std::move(iteration)), bound_(iteration_->program.blocks().size(), nullptr) {
  const Program& program = iteration_->program;
  std::vector<OpIndex> birth_use_in(program.blocks().size(), 0);
  for (OpIndex i = 0; i < program.op_count(); ++i)
    for (const BlockId block : program.op(i).births)
      birth_use_in[static_cast<std::size_t>(block)] = distance_to_next(program, block, i);
  std::unordered_set<std::string_view> names;
  const auto begin_op = [&](std::string_view name) {
    ops_.push_back({.name = *names.insert(name).first,
                    .first_operand = static_cast<std::int32_t>(operands_.size()),
                    .first_malloc = static_cast<std::int32_t>(mallocs_.size())});
  };
  for (OpIndex i = 0; i < program.op_count(); ++i) {
    const ScriptOp& script = iteration_->script[static_cast<std::size_t>(i)];
    begin_op(program.op(i).name);
    for (const ScriptOperand& operand : script.operands)
      operands_.push_back({.bytes = operand.bytes,
                           .block = operand.block,
                           .next_use_in = operand.block < 0 ? 0 : distance_to_next(program, operand.block, i),
                           .reads = operand.reads,
                           .writes = operand.writes,
                           .side_effect = operand.side_effect});
    for (const ScriptMalloc& malloc : script.mallocs)
      mallocs_.push_back(
          {malloc, malloc.block < 0 ? 0 : birth_use_in[static_cast<std::size_t>(malloc.block)]});
  }
  begin_op({});
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
  const std::span<const ExpectedOperand> wanted = operands(op);
  if (seen.operands.size() > wanted.size() || expected(op).name != seen.name) return false;
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
  const std::span<const ExpectedOperand> wanted = operands(op);
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

bool Tracker::run(OpIndex op, const OpSeen& seen, std::int64_t now) {
  if (op != place_) next_malloc_ = 0;
  place_ = running_ = op;
  now_ = now;
  suspended_ = false;
  ++in_a_row_;
  const std::span<const ExpectedOperand> wanted = operands(op);
  bool has_its_blocks = true;
  for (std::size_t k = 0; k < seen.operands.size(); ++k) {
    if (wanted[k].block < 0) continue;
    PagedBlock& block = *seen.operands[k].block;
    block.next_use = now + wanted[k].next_use_in;
    if (bound(wanted[k].block) == &block) continue;
    has_its_blocks = false;
    bind(wanted[k].block, block);
  }
  const std::span<const ExpectedMalloc> planned = mallocs(op);
  while (next_malloc_ < planned.size() && !planned[next_malloc_].malloc.inside) ++next_malloc_;
  first_inside_ = next_malloc_;
  return has_its_blocks;
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
    const bool all_are_bound = complete();
    if (!run(place_, seen, now) && all_are_bound) ++deviations_;
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
  expected_malloc_ = nullptr;
  if (!on_the_way()) return nullptr;
  const std::span<const ExpectedMalloc> planned = mallocs(place_);
  const bool inside = running_ != kNoOp;
  const ExpectedMalloc* next = next_malloc_ < planned.size() ? &planned[next_malloc_] : nullptr;
  if (next && next->malloc.inside != inside) next = nullptr;
  if (next && next->malloc.bytes == bytes) {
    ++next_malloc_;
    expected_malloc_ = next;
    return &next->malloc;
  }
  if (inside && complete()) ++deviations_;
  // Smaller than the one it stands for (a shorter batch): not its block, but its room.
  if (!next || !inside || bytes > next->malloc.bytes) return nullptr;
  ++next_malloc_;
  return &next->malloc;
}

void Tracker::malloced(PagedBlock& block) {
  const ExpectedMalloc* expected = std::exchange(expected_malloc_, nullptr);
  if (!expected || expected->malloc.block < 0) return;
  bind(expected->malloc.block, block);
  block.next_use = now_ + expected->next_use_in;
}

}  // namespace ebb
