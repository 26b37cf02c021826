// [SUB] Alg. 2 on a Program: how often each forward op runs again in backward → which gaps are dropped and in
// which stays their blocks are present again.
//
//   counts   a 0   b 1   c 0   d 1      backward of d needs d: d runs again, from c
//            kept  ·     kept  ·        backward of b needs b: b runs again, from a
//
// A count of k means k copies: copy i of an op reads copy min(i, count) of its inputs' makers, and backward
// reads the last. A copy that is read after the position it was made for is a stay.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "plan/recipes.h"

namespace ebb {

using MirrorCounts = std::vector<int>;  // by op; only those of forward ops count

// Prepared once per program.
class Mirror {
 public:
  Mirror(const Program& program, const Gaps& gaps);

  OpIndex turn() const { return turn_; }
  // The gaps over the turn that a count can drop, ascending.
  const std::vector<GapId>& droppable() const { return droppable_; }
  const Recipe& recipe(GapId g) const { return recipes_[static_cast<std::size_t>(g)]; }
  // A result that an op changes in place is dropped as often as the change; what cannot be made again is
  // kept.
  Plan plan(MirrorCounts counts);

 private:
  struct Copy {
    OpIndex made_at = kNoOp;
    OpIndex last_use = kNoOp;
  };

  void respect_the_program(MirrorCounts& counts) const;
  void make(OpIndex op, int copy, OpIndex at);
  Copy& copy_of(OpIndex op, int copy) {
    return copies_[first_copy_[static_cast<std::size_t>(op)] + static_cast<std::size_t>(copy) - 1];
  }
  std::vector<OpRange> stays_of(GapId g, OpIndex maker, int count);

  const Program& program_;
  const Gaps& gaps_;
  const OpIndex turn_;
  const std::vector<Recipe> recipes_;
  std::vector<GapId> droppable_;
  std::vector<bool> stays_anyway_;  // by version: over the turn, and cannot or need not be dropped
  const MirrorCounts* counts_ = nullptr;
  std::vector<Copy> copies_;
  std::vector<std::size_t> first_copy_;  // by op
  std::vector<OpIndex> read_until_;      // by version: the last position at which a copy reads it
  std::vector<std::pair<OpIndex, int>> stack_;
};

// One line per rule, "OP COUNT": an op's index, its exact name, or * for all; later lines win, # begins a
// comment. Throws InputError naming `file` and the line.
MirrorCounts parse_mirror_counts(std::string_view text, const std::string& file, const Program& program);

}  // namespace ebb
