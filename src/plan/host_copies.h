// What the host still holds: which swaps are clean, when a copy-out may start, and how many host bytes a plan
// takes.
#pragma once

#include <vector>

#include "plan/lowered.h"

namespace ebb {

class HostCopies {
 public:
  HostCopies(const Program& program, const Gaps& gaps);

  // The last op that changed the block's bytes at or before the gap's `from`, relative to its iteration
  // (negative: in the one before). kNeverWritten: not in the whole iteration.
  static constexpr OpIndex kNeverWritten = kAuto;
  OpIndex last_write(GapId g) const { return last_write_[static_cast<std::size_t>(g)]; }

  // Is the block present from the end of `op` to the gap's `from`, as far as its other decisions say?
  bool present_since(const Plan& plan, GapId g, OpIndex op) const;
  // Sets `clean`, and `out_after` where the decision leaves it open.
  void resolve(const Plan& plan, std::vector<Swap>& swaps) const;
  // By position: each host copy from the op after which the block leaves to the last return that needs it.
  Bytes peak(const std::vector<Swap>& swaps) const;

 private:
  // A gap's `from` in its block's own time, so that a block's gaps ascend.
  OpIndex local_from(GapId g) const;
  OpIndex find_last_write(const Gap& gap, const std::vector<OpIndex>& writes) const;
  // Where the host copy of a swap is last needed, by itself or by the clean swaps that follow it in cyclic
  // order. [first, last) are the swaps of its block.
  OpIndex last_return(const std::vector<Swap>& swaps, std::size_t copied, std::size_t first,
                      std::size_t last) const;

  const Program& program_;
  const Gaps& gaps_;
  std::vector<OpIndex> last_write_;
};

}  // namespace ebb
