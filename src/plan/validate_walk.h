// The walk behind `validate`: follows the commands of one iteration, over and over, and keeps for every block
// whether its memory is taken and which content it holds.
//
// An item's end takes effect only when a later command says so by its `ended`; until then the item may still
// run and all it holds is counted. A copy-in that has been issued counts as present: whoever uses the block
// waits for it.
#pragma once

#include <algorithm>
#include <map>

#include "plan/validate.h"

namespace ebb {

class ScheduleWalk {
 public:
  // REQUIRES: every op runs once and in order, every gap has the commands its decision asks for.
  ScheduleWalk(const Program& program, const Gaps& gaps, const LoweredPlan& lowered, const Schedule& schedule,
               Bytes limit);

  // The first pass reaches the state in which an iteration begins; the second is judged.
  std::vector<Violation> judge();

  // After which ops a recomputed block is dropped.
  static std::vector<OpIndex> drop_ops(const Gap& gap, const Decision& decision);

 private:
  struct Body {
    bool present = false;
    VersionId content = -1;  // -1: nothing anybody may read
    std::int64_t item = -1;  // the item that last changed it, over all passes
    bool operator==(const Body& o) const { return present == o.present && content == o.content; }
  };
  // A swap on its way. Iterations are those of the gap's `from`.
  enum class Stage : char { here, leaving, away };
  struct Crossing {
    Stage stage = Stage::here;
    std::int64_t begun = -2;     // the last instance that began to leave
    std::int64_t returned = -2;  // and the last whose copy-in was issued
  };
  // An item that waits for a copy of the gap; `position` is relative to the gap's iteration.
  struct Wait {
    GapId gap = 0;
    OpIndex position = 0;
    bool in = true;
  };
  struct State {
    std::vector<Body> live;
    std::vector<Stage> stages;
    std::map<GapId, Body> kept;
    bool operator==(const State&) const = default;
  };

  void list_targets();
  void list_waits();
  void list_contents();
  void walk_once();
  State state() const;
  void cross_boundary();

  void begin_op(OpIndex op);
  void begin_position(OpIndex j);
  void check_directives(OpIndex j);
  void use(OpIndex op, const Access& access, VersionId expected);
  void begin_replay(std::size_t index);
  void begin_step(OpIndex op);
  void end_items(std::int32_t count);
  void end_op(OpIndex op);
  void end_step(OpIndex op);
  void die(BlockId block);
  void start_out(const Command& command);
  void release(const Command& command);
  void start_in(const Command& command);
  void drop(const Command& command);
  void drop_clean(const Command& command);

  template <typename T>
  static auto& at(T& list, std::int32_t index) {
    return list[static_cast<std::size_t>(index)];
  }
  const Swap& swap_of(GapId g) const { return *swap_of_[static_cast<std::size_t>(g)]; }
  OpIndex last_present(GapId g) const { return std::max(gaps_[g].from, swap_of(g).out_after); }
  bool has_ended(const Command& command, std::int64_t op) const;
  std::int64_t instance(const Command& command) const;
  Body* find(GapId g);
  bool readable(VersionId v) const;
  bool leaves_for_good(BlockId block) const;
  GapId target_for(VersionId v) const;
  VersionId across(BlockId block, VersionId v) const;
  void take(Bytes amount, OpIndex op, BlockId block, const char* what);
  void set_present(Body& body, BlockId block, bool present);
  void report(Rule rule, OpIndex op, BlockId block, std::string sentence);
  std::string name(OpIndex op) const;

  const Program& program_;
  const Gaps& gaps_;
  const LoweredPlan& lowered_;
  const std::vector<Command>& commands_;
  const Bytes limit_;
  const OpIndex n_;
  std::vector<const Swap*> swap_of_;              // by gap
  std::vector<std::int64_t> out_rank_, in_rank_;  // by gap: place on its link
  std::vector<std::int32_t> item_of_op_;          // by op: place among the items of an iteration
  std::int32_t items_ = 0;                        // of one iteration
  std::vector<std::vector<GapId>> targets_;       // by position: recomputed gaps that must be back there
  std::vector<std::vector<Wait>> waits_;          // by position
  std::vector<VersionId> first_, last_;           // by block: content at the iteration's start and end
  std::vector<std::vector<VersionId>> expected_;  // by op and access: the content before the op

  std::vector<Body> live_;           // by block: the instance the program knows
  std::vector<VersionId> host_;      // by block: content of its host copy
  std::vector<Crossing> crossings_;  // by gap
  std::map<GapId, Body> kept_;       // dead blocks held by a stay or by a copy-out that runs on
  std::map<VersionId, Bytes> temporaries_;
  std::map<VersionId, OpIndex> last_reader_;  // in the replay under way
  std::map<GapId, std::size_t> drops_done_;   // in this pass
  Bytes held_ = 0;                            // workspace of the item that may run included
  Bytes workspace_ = 0;
  std::int64_t last_out_ = -1, last_in_ = -1;

  std::int64_t pass_ = 0;
  std::vector<const Command*> listed_;  // items of this pass
  std::int32_t ended_ = 0;              // how many of them have ended
  OpIndex position_ = 0;                // ops listed in this pass
  bool judging_ = false;
  std::vector<Violation> violations_;
};

}  // namespace ebb
