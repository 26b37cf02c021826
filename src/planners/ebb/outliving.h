// Blocks that the program frees before a later replay could read them. Kept beyond their death they make that
// replay short: a dense block's concatenations are made again from its layers' small results, if those are
// still there, and otherwise from everything before them.
#pragma once

#include <vector>

#include "planners/planner.h"

namespace ebb {

struct OutlivingBlock {
  GapId gap = 0;      // the trailing one
  OpIndex until = 0;  // the last position at which a content that is made from it can be made again
  Bytes bytes = 0;
  Bytes serves = 0;  // of the contents that are made from it directly and are read after its death
  bool operator==(const OutlivingBlock&) const = default;

  bool is_worthwhile() const { return 2 * serves >= 3 * bytes; }
};

// Those that serve anything, in the order of their gaps.
std::vector<OutlivingBlock> find_outliving(const PlanningProblem& problem);

// It stays until op `end` - 1 has ended; end <= its death: as the program has it.
void keep_until(Plan& plan, const Gaps& gaps, GapId gap, OpIndex end);
bool is_kept_past_death(const Plan& plan, const Gaps& gaps, GapId gap);

// Lets blocks that outlive go after the last replay that reads them.
// REQUIRES: `lowered` is `plan`, lowered.
bool trim_outliving(const PlanningProblem& problem, const std::vector<OutlivingBlock>& blocks,
                    const LoweredPlan& lowered, Plan& plan);

}  // namespace ebb
