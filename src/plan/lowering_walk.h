// One walk over the ops with the whereabouts of every block under a plan: what is replayed when, which blocks
// stay, and the bytes that must be present around each op (docs/notes/lowering.md, step 3).
#pragma once

#include <optional>
#include <vector>

#include "plan/lowered.h"
#include "plan/replay_builder.h"

namespace ebb {

// Constructed once per program. For each plan: prepare(), then run() until note_early_returns() is false.
class LoweringWalk {
 public:
  LoweringWalk(const Program& program, const Gaps& gaps);

  void give_up_beyond(std::size_t replays) { most_replays_ = replays; }

  // REQUIRES: `plan` and `result` outlive the walks; result.plan equals `plan`; result.swaps in the order of
  // gaps, each with `clean` and `out_after`.
  void prepare(const Plan& plan, Bytes limit, LoweredPlan& result);
  // Sets needed_at of the swaps, replays, drops, chosen stays, and freed, need and initial bytes, or returns
  // why not.
  std::optional<Infeasible> run();
  // A replay late in the iteration may call a wrapping swap back before the boundary, which changes the
  // start. Notes those that the last walk found for the next; false if there is none that was not known.
  bool note_early_returns();

 private:
  // Something that happens to a gap at a position.
  struct At {
    OpIndex position = 0;
    GapId gap = 0;
  };
  static void sort_by_position(std::vector<At>& list);

  void collect_events();
  void start();
  void begin_position(OpIndex j);
  std::optional<Infeasible> replay(OpIndex j);
  void choose_stays(OpIndex j, Bytes before);
  bool evict_a_stay(OpIndex j);
  void end_op(OpIndex j);
  void leave(GapId g, OpIndex after);
  void drop(GapId g, OpIndex after);
  void end_stay(GapId g, OpIndex end);

  Bytes bytes_of(BlockId b) const { return program_.block(b).bytes; }
  Whereabouts& where(BlockId b) { return presence_.where[static_cast<std::size_t>(b)]; }
  GapId& gap_of(BlockId b) { return gap_of_[static_cast<std::size_t>(b)]; }
  Swap& swap_of(GapId g) {
    return out_->swaps[static_cast<std::size_t>(swap_index_[static_cast<std::size_t>(g)])];
  }
  std::vector<OpRange>& stays(GapId g) { return *out_->plan[g].stays; }
  bool chooses_stays(GapId g) const { return !(*plan_)[g].stays.has_value(); }
  // A trailing swap has no copy-in: to a replay its block is as good as dropped.
  Whereabouts away_in(GapId g) const {
    return gaps_[g].kind == GapKind::trailing ? Whereabouts::dropped : Whereabouts::on_host;
  }
  void return_block(GapId g, OpIndex position);
  // What op j needs on top of what is present at its position.
  Bytes op_need(OpIndex j) const { return program_.birth_bytes(j) + program_.op(j).workspace; }

  const Program& program_;
  const Gaps& gaps_;
  const OpIndex n_;
  ReplayBuilder builder_;
  const Presence at_start_;
  Presence presence_;
  std::vector<GapId> gap_of_;               // by block: the gap it is absent in
  std::vector<GapId> trailing_of_;          // by block
  std::vector<std::vector<GapId>> begins_;  // by op: gaps that begin when it ends
  std::vector<std::vector<GapId>> ends_;  // by op: gaps that end with it, wrapping ones in the next iteration
  std::vector<std::int32_t> swap_index_;  // by gap
  std::vector<bool> returns_early_;       // by gap: wrapping, and needed before the boundary
  std::vector<At> late_leaves_, called_back_, stay_begins_, stay_ends_;
  std::size_t next_leave_ = 0, next_call_ = 0, next_begin_ = 0, next_end_ = 0;
  std::vector<GapId> chosen_;  // gaps now in a stay that this class chose
  std::vector<VersionId> wanted_;
  std::vector<GapId> wanted_gaps_;
  Bytes present_ = 0;  // resident bytes, unmanaged included
  std::size_t most_replays_ = 0;

  const Plan* plan_ = nullptr;
  Bytes limit_ = 0;
  LoweredPlan* out_ = nullptr;
};

}  // namespace ebb
