// Follows a schedule: issues its commands around the program's ops, in its order. What cannot be done — an
// address still taken, a block pinned or gone, a full host, a failed copy — is left out and counted; whoever
// needs the block then finds it as without a plan (docs/notes/planned-mode.md).
//
//   … release a │ start_in b │ run 7 │ start_in c (ended ≤ 7) │ release d (ended 8) │ run 8 …
//     `---- before op 7 ----'         `- before its function -' `---- before op 8 ----'
#pragma once

#include "runtime/op_timer.h"
#include "runtime/prepared_plan.h"
#include "runtime/tracker.h"

namespace ebb {

class Follower {
 public:
  // REQUIRES: all outlive the follower; the tracker's iteration has the plan's program.
  Follower(const RuntimeParts& parts, Remaker& remaker, const Tracker& tracker, OpTimer& timer,
           std::shared_ptr<const PreparedPlan> plan);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Issues all that comes before the op. An op before the last one begins a new iteration; in the first one,
  // and after one with surprises, what is not where the plan has it moves there before all else.
  void issue_until(OpIndex op);
  // Empties the places of what the op will malloc. true: all are free.
  bool make_room(OpIndex op);
  // The same for a replayed op, if the plan has it.
  bool make_room_for(const Step& replayed);
  // Issues what may begin while the op runs.
  void issue_beside(OpIndex op);

  PlannedPlace place_of(const ScriptMalloc& malloc, OpIndex op) const;
  PlannedPlace place_of_replayed(const Step& step, std::size_t nth) const;
  // The program frees the block: does the plan keep it for a later replay? Then it is held until its drop.
  bool keeps_freed(PagedBlock& block);
  // What is held so.
  void let_all_go();
  // Of what a planned replay makes, only what it is for stays.
  bool keeps_replayed(const Step& step, const PagedBlock& block) const;

  // Tells that an iteration ended.
  void iteration_ended();
  // Might the op be replayed? By the plan; or, as long as much goes otherwise than planned, by anyone.
  bool needs_recipe(OpIndex op) const { return anyone_replays_ || run(op).remembered; }

  const PreparedPlan& plan() const { return *plan_; }
  // Has everything gone to its place once, and an op run?
  bool has_begun() const { return next_ > 0; }
  std::int64_t left_out() const { return left_out_; }
  // The gap whose command is being issued, or -1.
  GapId current_gap() const { return current_gap_; }

 private:
  struct HeldBlock {
    BlockId id = 0;
    PagedBlock* block = nullptr;
    BlockHold hold;
  };
  struct PlannedRun {
    std::size_t command = 0;        // that runs the op
    std::int32_t items_before = 0;  // listed before it
    std::int32_t first_room = 0;    // of what it mallocs
    bool remembered = false;        // the plan needs its recipe
  };
  // Of a birth, or of all that an op mallocs beside (kInsideOnly).
  struct PlannedRoom {
    BlockId block = 0;
    PlannedPlace place = {};
  };
  const PlannedRun& run(OpIndex op) const { return runs_[static_cast<std::size_t>(op)]; }
  void settle();
  std::span<const PlannedRoom> rooms(OpIndex op) const {
    return {rooms_.data() + run(op).first_room, rooms_.data() + run(op + 1).first_room};
  }
  void list_rooms(OpIndex op);
  void list_replay_places(std::size_t step);
  bool is_target(BlockId block, OpIndex position) const;
  // The step of the plan's replay that runs and is this one; nothing: none.
  std::optional<std::size_t> planned_step(const Step& step) const;
  void issue(const Command& command);
  bool carry_out(const Command& command);
  void leave_out(const Command& command);
  bool copy_out(GapId gap);
  bool release(GapId gap);
  bool bring_in(GapId gap);
  bool drop(GapId gap);
  bool let_go(BlockId block);
  void replay(OpIndex position);
  PagedBlock* block_of(GapId gap) const;
  Bytes arena_end(Bytes offset, Bytes bytes) const { return offset + Arena::rounded(bytes); }

  const RuntimeParts& parts_;
  Remaker& remaker_;
  const Tracker& tracker_;
  OpTimer& timer_;
  std::shared_ptr<const PreparedPlan> plan_;
  const Program& program_;
  std::span<const Command> commands_;  // of the plan
  std::size_t next_ = 0;               // command to issue
  OpIndex replaying_ = kNoOp;          // the position a replay runs for
  GapId current_gap_ = -1;
  bool anyone_replays_ = true;
  bool settled_ = false;                       // all was where the plan has it when an iteration began
  std::vector<PlannedRun> runs_;               // by op, and the end
  std::vector<PlannedRoom> rooms_;             // of all ops, one after the other
  std::vector<std::vector<BlockId>> targets_;  // by position: what its replay brings back
  std::vector<std::int32_t> first_step_;       // by position: its first replay step, or -1
  std::vector<PlannedPlace> replay_places_;    // of what replay steps malloc, one step after the other …
  std::vector<std::int32_t> first_place_;      // … by step, and the end
  std::vector<std::size_t> kept_until_;        // by block: past its death, its drop's command; or 0
  std::vector<HeldBlock> held_;                // freed by the program
  std::size_t step_ = 0;                       // replay step that comes next
  std::vector<PagedBlock*> remade_;            // what the replay that runs is for
  OpIndex replayed_ = kNoOp;                   // the position it ran for last
  std::int64_t left_out_ = 0;
  std::int64_t surprises_;  // until the last iteration's end
};

}  // namespace ebb
