// DTR as it would run: op by op, knowing nothing of what comes. When an op or a replay does not fit, the
// content with the least cost ÷ (bytes · time since its last use) goes; what an op asks for is made again,
// and what was made on the way stays until it is evicted in its turn. What happened becomes a plan with
// stays.
#pragma once

#include "plan/recipes.h"
#include "plan/replay_builder.h"
#include "planners/planner.h"
#include "planners/recompute/evicted_costs.h"

namespace ebb {

class OnlineWalk {
 public:
  OnlineWalk(const PlanningProblem& problem, LossMeasure measure);

  // A plan, or the first op that does not fit even if all that may go has gone.
  PlanningResult run();

 private:
  std::optional<Infeasible> make_room(OpIndex j);
  bool replay_what_is_missing(OpIndex j, Bytes& peak);
  void settle_replay(OpIndex j);
  bool evict_one(OpIndex j);
  void evict(BlockId b, OpIndex j);
  void run_op_at(OpIndex j);
  void free_block(BlockId b);
  bool may_stay(VersionId v, OpIndex j) const;
  double loss(BlockId b);

  Bytes bytes_of(BlockId b) const { return program_.block(b).bytes; }
  Whereabouts& where(BlockId b) { return presence_.where[static_cast<std::size_t>(b)]; }
  VersionId& current(BlockId b) { return presence_.current[static_cast<std::size_t>(b)]; }
  GapId gap_of(BlockId b) const { return gap_of_[static_cast<std::size_t>(b)]; }
  Bytes op_need(OpIndex j) const { return program_.birth_bytes(j) + program_.op(j).workspace; }

  const PlanningProblem& problem_;
  const Program& program_;
  const Gaps& gaps_;
  ReplayBuilder builder_;
  EvictedCosts costs_;
  std::vector<bool> evictable_;  // by gap
  Presence presence_;
  std::vector<GapId> gap_of_;            // by block: the gap it is in, -1: none
  std::vector<OpIndex> present_since_;   // by block: a position in its gap
  std::vector<Nanoseconds> last_use_;    // by block
  std::vector<OpIndex> pinned_at_;       // by block: the last op that accessed it or was about to
  std::vector<OpIndex> read_at_;         // by block: the last position whose replay reads it
  std::vector<OpIndex> given_up_at_;     // by version: the last position at which it was not kept
  std::vector<BlockId> idle_;            // blocks that may go, in no order
  std::vector<std::size_t> idle_place_;  // by block
  std::vector<VersionId> wanted_, kept_;
  Nanoseconds now_ = 0;
  Bytes present_ = 0;
  Plan plan_;
};

}  // namespace ebb
