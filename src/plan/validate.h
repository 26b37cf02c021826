// Is this schedule safe? A pure walk over the commands, without times and without the simulator, that says
// which rule of docs/notes/simulation.md is broken, by which op and block. An empty answer means: whatever
// the durations turn out to be, every operand is there with the right content and the limit holds.
#pragma once

#include <string>
#include <vector>

#include "plan/lowered.h"
#include "plan/schedule.h"

namespace ebb {

enum class Rule : char {
  directive,         // a decision contradicts its gap, or the lowered plan its decisions
  op_order,          // every op exactly once and in order; `ended` counts what was listed before
  command_count,     // a gap's commands: each as often as its decision asks for
  link_order,        // copies in the order of the link
  content_final,     // a copy-out starts after the last write of its content, and after out_after
  release_order,     // a release comes after its copy-out and its last reader
  return_order,      // a copy-in comes after its release and from position in_from on
  operand_absent,    // what an op or a replay step uses is there
  wrong_content,     // and is the version it read at first
  directive_missed,  // out_by, in_by: the copy has been issued when they say
  replay_illegal,    // a replay step that cannot run here
  replay_missing,    // a recomputed block that is not back where its gap or a stay asks for it
  drop_illegal,      // only a block whose gap says so is dropped, after the op that ends its presence
  over_limit,        // bytes held, with the item that may still run, never exceed the limit
  not_cyclic,        // the iteration ends as it began
};

struct Violation {
  Rule rule = Rule::op_order;
  OpIndex op = kNoOp;
  BlockId block = -1;
  std::string sentence;
};

// The lowered plan alone: its directives against the gaps, its queues against its orders.
std::vector<Violation> validate(const Program& program, const Gaps& gaps, const LoweredPlan& lowered);

// And one steady iteration of commands, repeated for ever. At most the first few violations are listed.
std::vector<Violation> validate(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                                const Schedule& schedule, Bytes limit);

}  // namespace ebb
