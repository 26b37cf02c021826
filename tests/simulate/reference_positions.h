// What a lowered plan means by position, derived again from its decisions alone: who is present where, what
// is replayed, which swaps are clean, how much must fit. Written for clarity: everything is a search over all
// gaps.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/lowered.h"

namespace ebb {

// A replayed op with every version it makes, turns into another, keeps or lets go.
struct ReferenceStep {
  OpIndex before = 0;
  OpIndex op = 0;
  std::vector<VersionId> allocates;
  std::vector<std::pair<VersionId, VersionId>> in_place;  // old version, new version
  std::vector<VersionId> frees;                           // when it ends
  std::vector<GapId> returns;                             // gaps whose block is back when it ends
};

class ReferencePositions {
 public:
  ReferencePositions(const Program& program, const Gaps& gaps, const LoweredPlan& lowered);

  // The last op at which a swapped block must still be there, relative to the iteration of `from`.
  OpIndex last_present(const Swap& swap) const;
  // Does the copy-in happen in the iteration after the one of the gap's `from`?
  bool returns_next_iteration(const Swap& swap) const { return swap.needed_at >= program_.op_count(); }
  // Is the block resident at time 0?
  bool present_at_start(BlockId block) const;
  // The steps before op j, in order.
  const std::vector<ReferenceStep>& replay(OpIndex j) const { return replays_[static_cast<std::size_t>(j)]; }
  Bytes need(OpIndex j) const;
  Bytes bytes_of(VersionId v) const { return program_.block(program_.version(v).block).bytes; }
  Bytes host_peak() const;
  // Does a stay of this gap hold the block at op `op` and beyond, although it dies there?
  bool kept_past(GapId gap, OpIndex op) const;
  // Every point in which the lowered plan says something else.
  const std::vector<std::string>& disagreements() const { return disagreements_; }

 private:
  struct Place {
    GapId gap;
    OpIndex at;  // unrolled: relative to the iteration of the gap's `from`
  };
  const Swap& swap_of(GapId gap) const;
  bool is_swap(GapId gap) const { return lowered_.plan[gap].action == Action::swap; }
  bool is_recompute(GapId gap) const { return lowered_.plan[gap].action == Action::recompute; }
  bool alive_at_position(BlockId block, OpIndex j) const;
  bool alive_at_op(BlockId block, OpIndex j) const;
  std::optional<Place> gap_over_op(BlockId block, OpIndex j) const;
  std::optional<Place> gap_over_position(BlockId block, OpIndex j) const;
  bool present_at_op(BlockId block, OpIndex j) const;
  bool present_at_position(BlockId block, OpIndex j) const;
  bool stay_holds_at_position(GapId gap, OpIndex j) const;
  VersionId content_at(BlockId block, OpIndex j) const;
  bool available(VersionId v, OpIndex j) const;
  Bytes kept_dead(OpIndex j, bool position) const;
  std::vector<GapId> targets(OpIndex j) const;
  std::vector<ReferenceStep> derive_replay(OpIndex j);
  void check_swaps();
  void check_replays();
  bool derive_clean(GapId gap) const;

  const Program& program_;
  const Gaps& gaps_;
  const LoweredPlan& lowered_;
  std::vector<std::vector<ReferenceStep>> replays_;
  std::vector<std::string> disagreements_;
};

}  // namespace ebb
