// What the agent of [DQN] decides about: idle times that cover ops above the limit. Similar small ones that
// follow each other are one variable, so that the graph stays small. See docs/notes/dqn.md.
#pragma once

#include <vector>

#include "planners/planner.h"

namespace ebb::dqn {

struct Variable {
  std::vector<GapId> gaps;  // decided together; the first is that of the largest block
  Bytes bytes = 0;
  OpIndex from = 0;  // absent at the ops strictly between
  OpIndex to = 0;
  bool carried = false;  // idle since the iteration before: absent from its start, and again after `from`
  bool remakable = false;
  Nanoseconds out = 0;            // nominal copy times; 0 where the host still has the content
  Nanoseconds in = 0;             // 0 if it is never read again
  Nanoseconds remaking = 0;       // if everything else is there
  std::vector<int> sources = {};  // variables that remaking reads
};

struct VariableRules {
  int most = 64;           // roughly: gaps smaller than their total / most are grouped
  double coverage = 0.02;  // of the time above the limit that a gap must cover at least
};

// Ordered by `from`, those that are carried over the boundary first. Empty if the step fits as it is.
std::vector<Variable> find_variables(const PlanningProblem& problem, const PlannerOptions& options,
                                     const VariableRules& rules);

// The ops of one iteration at which a gap's block may be absent: before and after the boundary.
struct Absence {
  OpRange head, tail;
};
Absence absence_of(const Gap& gap, OpIndex op_count);

}  // namespace ebb::dqn
