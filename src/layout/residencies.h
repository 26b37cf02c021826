// A program, with or without a plan, as a packing problem: every time a block, a replay's temporary or an
// op's workspace takes memory is one residency with one offset.
//
// Without a plan, time is the op index. Under a plan it is the place in the schedule: memory is free again
// where the schedule says that it is (a release, a drop, the end of an item), so offsets are safe in whatever
// time things take.
#pragma once

#include <vector>

#include "layout/problem.h"
#include "plan/lowered.h"
#include "plan/schedule.h"

namespace ebb::layout {

enum class TakenBy : char {
  already_there,  // present at the boundary and never moved
  birth,          // the op's own malloc
  copy_in,        // the gap's return
  replay,         // step `op` of a replay for position `before`
  workspace,      // of an op (before = kNoOp) or a replay step
};

struct Residency {
  TakenBy taken_by = TakenBy::birth;
  BlockId block = -1;      // -1: workspace
  OpIndex op = kNoOp;      // birth, workspace, replay: the op that runs
  OpIndex before = kNoOp;  // replay, workspace of a replay step: the position it is for
  GapId gap = -1;          // copy_in
  // Under a plan: the command whose end frees the memory, -1 if nothing does.
  std::int32_t freed_by = -1;
  bool operator==(const Residency&) const = default;
};

// Buffer i of the problem is residency i.
struct ArenaProblem {
  Problem problem;
  std::vector<Residency> residencies;
  // Some block is born again while the copy of its last life still runs: no offset can hold both. It is
  // listed as alive all the time.
  bool meets_itself = false;
};

// Nothing moves. Zero-sized blocks and workspaces take no memory and are left out.
ArenaProblem arena_problem(const Program& program);

// One steady iteration. REQUIRES: a schedule that validate() accepts.
ArenaProblem arena_problem(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                           const Schedule& schedule);

}  // namespace ebb::layout
