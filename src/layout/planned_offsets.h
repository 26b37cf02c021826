// A layout, read back by those who execute: where each malloc, return and replayed result goes.
#pragma once

#include <vector>

#include "layout/packing.h"
#include "layout/replay_table.h"
#include "layout/residencies.h"

namespace ebb::layout {

// Everything else goes to a pool above `footprint`. kUnplanned where there is nothing to place.
struct PlannedOffsets {
  ReplayTable births;              // (op, nth birth)
  ReplayTable replays;             // (index of the replay step, nth output)
  std::vector<Bytes> returns;      // by gap: where its copy-in lands
  std::vector<Bytes> at_boundary;  // by block: what never moves, and what is there when an iteration begins
  std::vector<Bytes> workspaces;   // by op
  std::vector<Bytes> replay_workspaces;  // by index of the replay step
  Bytes footprint = 0;
};

// `lowered` may be empty for a program without a plan; all of it lies above `ground`. REQUIRES: layout.fits,
// made for arena.problem.
PlannedOffsets planned_offsets(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                               const ArenaProblem& arena, const Layout& layout, Bytes ground = 0);

}  // namespace ebb::layout
