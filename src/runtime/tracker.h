// Where in a known iteration a program is, and which of its blocks is which.
//
//   known:   the next op is op `place()`. It is compared with the call: name, sizes, roles, and the blocks
//            themselves as far as they are bound.
//   unknown: an op that is not in the iteration ran; the expected one may still follow.
//   lost:    the program is somewhere else; its place is found again by the ops that come.
// After n ops in a row all blocks are bound: persistent ones by their use, the others by their births.
#pragma once

#include <memory>

#include "runtime/live_frame.h"
#include "trace/iteration_script.h"

namespace ebb {

class Tracker {
 public:
  explicit Tracker(std::shared_ptr<const ScriptedIteration> iteration);
  ~Tracker();
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  enum class Verdict : char {
    expected,  // op place() runs
    jumped,    // so it does, after a jump: ops were left out, or the iteration began anew
    unknown,   // an op that is not expected here
    found,     // the place, after it was lost
  };
  // Compares the call and takes its blocks to be the op's.
  Verdict op_begins(const OpSeen& op, std::int64_t now);
  void op_restarts() { next_malloc_ = first_inside_; }
  // Moves on if the op was one of the iteration.
  void op_ended();

  // The next malloc as the iteration has it, or the larger one whose room it can have; nullptr if it has
  // none.
  const ScriptMalloc* expect_malloc(Bytes bytes);
  // What came of the malloc that was expected last.
  void malloced(PagedBlock& block);

  bool known() const { return known_; }
  bool on_the_way() const { return known_ && !suspended_; }
  // All blocks that live are bound.
  bool complete() const { return known_ && in_a_row_ >= op_count(); }
  OpIndex place() const { return place_; }
  // The op that runs, or kNoOp.
  OpIndex running() const { return running_; }
  // That one, or the one before.
  OpIndex last() const { return running_ != kNoOp ? running_ : (place_ + op_count() - 1) % op_count(); }
  PagedBlock* bound(BlockId block) const { return bound_[static_cast<std::size_t>(block)]; }
  // The block of the program behind it, or -1.
  BlockId block_of(const PagedBlock& block) const;
  std::int64_t deviations() const { return deviations_; }
  const ScriptedIteration& iteration() const { return *iteration_; }

 private:
  OpIndex op_count() const { return static_cast<OpIndex>(ops_.size()) - 1; }
  bool looks_like(OpIndex op, const OpSeen& seen) const;
  // Of one that looks like it: is it called with the blocks that are expected?
  bool has_its_blocks(OpIndex op, const OpSeen& seen) const;
  bool is(OpIndex op, const OpSeen& seen) const { return looks_like(op, seen) && has_its_blocks(op, seen); }
  std::optional<OpIndex> ahead(const OpSeen& seen) const;
  // Takes its blocks to be the op's. false: others were.
  bool run(OpIndex op, const OpSeen& seen, std::int64_t now);
  void bind(BlockId id, PagedBlock& block);
  bool search(const OpSeen& seen);

  std::shared_ptr<const ScriptedIteration> iteration_;
  // The iteration as it is compared, each list in one piece: a host that goes through it touches little
  // memory.
  struct ExpectedOp {
    std::string_view name;  // one for all ops of that name
    std::int32_t first_operand = 0;
    std::int32_t first_malloc = 0;
  };
  // What an op is called with, and how many ops later its block is used again.
  struct ExpectedOperand {
    Bytes bytes = 0;
    BlockId block = 0;
    OpIndex next_use_in = 0;
    bool reads = false;
    bool writes = false;
    bool side_effect = false;
  };
  struct ExpectedMalloc {
    ScriptMalloc malloc;
    OpIndex next_use_in = 0;
  };
  const ExpectedOp& expected(OpIndex op) const { return ops_[static_cast<std::size_t>(op)]; }
  std::span<const ExpectedOperand> operands(OpIndex op) const {
    return {operands_.data() + expected(op).first_operand, operands_.data() + expected(op + 1).first_operand};
  }
  std::span<const ExpectedMalloc> mallocs(OpIndex op) const {
    return {mallocs_.data() + expected(op).first_malloc, mallocs_.data() + expected(op + 1).first_malloc};
  }
  bool known_ = false;
  bool suspended_ = false;
  OpIndex place_ = 0;
  OpIndex running_ = kNoOp;
  std::vector<ExpectedOp> ops_;            // and the end
  std::vector<ExpectedOperand> operands_;  // of all ops, one after the other
  std::vector<PagedBlock*> bound_;         // by block
  std::vector<ExpectedMalloc> mallocs_;    // like the operands
  std::int64_t in_a_row_ = 0;
  std::int64_t deviations_ = 0;
  std::size_t next_malloc_ = 0;   // of op place_
  std::size_t first_inside_ = 0;  // malloc of the op that runs
  std::int64_t now_ = 0;
  const ExpectedMalloc* expected_malloc_ = nullptr;
  std::vector<OpIndex> candidates_;  // places that fit what came last
  std::int64_t candidate_run_ = 0;
};

}  // namespace ebb
