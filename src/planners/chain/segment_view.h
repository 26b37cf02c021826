// A Program as a chain of stages that can run again: the layers of its chain view, grouped, with what each
// makes, what crosses the cuts, and what it takes to run them.
#pragma once

#include "planners/chain/chain_view.h"
#include "planners/chain/segment_program.h"
#include "planners/planner.h"
#include "planners/recompute/mirror.h"

namespace ebb {

// What a stage is in the Program.
struct SegmentPart {
  OpRange forward;
  OpRange backward;                              // may be empty
  std::vector<GapId> gaps = {};                  // of what it makes for backward and can be dropped
  std::vector<std::vector<GapId>> dropped = {};  // by store option: of `gaps`, those made again
  bool operator==(const SegmentPart&) const = default;
};

struct SegmentView {
  SegmentChain chain;
  std::vector<SegmentPart> parts;  // one per stage
  // The gaps of what stages s … c − 1 make for backward and stages from c on read in forward.
  std::vector<GapId> crossing_gaps(std::size_t s, std::size_t c, const Gaps& gaps) const;
};

// The first ops of at most `most` stages: of all cuts those stay that are crossed by what takes longest to
// make per byte. REQUIRES: most > 0.
std::vector<OpIndex> dearest_cuts(const PlanningProblem& problem, const ChainView& view, const Mirror& mirror,
                                  std::size_t most);

// Gaps over the turn whose contents cannot be made again, in the order in which they begin: these blocks stay
// or leave whatever runs again.
std::vector<GapId> lasting_gaps(const PlanningProblem& problem, const Mirror& mirror);

// Needs and what is held round up to slots of `slot` bytes; blocks are absent in the gaps `away`.
// REQUIRES: `starts` are layers' first ops, ascending from 0.
SegmentView view_as_segments(const PlanningProblem& problem, const ChainView& view, const Mirror& mirror,
                             const std::vector<OpIndex>& starts, const std::vector<GapId>& away, Bytes slot);

}  // namespace ebb
