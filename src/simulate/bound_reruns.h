// The price of dropping, in a linear program. Several gaps whose replays can happen at one position share the
// runs of a common writer (the output and the mask of a dropout); gaps whose replays cannot, do not.
//
//   op A writes x and y:   x  |W....gap....R|          one run of A at a position in both gaps serves both,
//                          y  |W........gap.....R|     so x dropped and y dropped cost A once, not twice
#pragma once

#include <span>
#include <vector>

#include "simulate/bound_problem.h"
#include "simulate/lp.h"

namespace ebb {

// A column whose value, times its cost, is time spent on replays within positions [from + 2, to] of some
// gaps.
struct RerunColumn {
  LinearProgram::Column column = 0;
  OpIndex from = 0;
  OpIndex to = 0;
};

struct DropColumns {
  std::vector<LinearProgram::Column> dropped;  // per gap, in [0, 1]: how much of it is recomputed
  std::vector<RerunColumn> reruns;             // the gaps' own columns among them
};

// REQUIRES: every gap is droppable and returns. `unit`: nanoseconds per unit of cost.
DropColumns add_drop_columns(LinearProgram& lp, const BoundProblem& problem,
                             std::span<const Absence* const> gaps, double unit);

}  // namespace ebb
