// A plan packed before it is timed. Time is the position in the program: a block that leaves is gone when its
// last op has ended, as if its copy took no time, and whoever gets its addresses waits for the copy instead.
// Without the tails of copies there is slack to pack with where a schedule keeps memory full all the time.
//
//   schedule:  a uses-----+copy out====+            by position:  a uses-----+
//              b                       +uses---                   b          +uses---  (waits for a's copy)
#pragma once

#include <optional>
#include <vector>

#include "layout/packing.h"
#include "layout/residencies.h"
#include "simulate/address_gates.h"

namespace ebb::layout {

struct PositionSchedule {
  Schedule schedule;               // copies start and end at once
  std::vector<std::size_t> start;  // by position, and one more: the first command that belongs to it
};

PositionSchedule schedule_by_position(const Program& program, const Gaps& gaps, const LoweredPlan& lowered);

// REQUIRES: the arena of that schedule, and a valid layout of it.
AddressGates address_gates(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                           const Schedule& by_position, const ArenaProblem& arena, const Layout& layout);

// Lets every copy-in start as early as its addresses are free, but not before its block has left. Sets
// `in_from` in the plan. REQUIRES: as address_gates.
void return_early(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                  const PositionSchedule& by_position, const ArenaProblem& arena, const Layout& layout,
                  Plan& plan);

// The same offsets for the same residencies in another order of commands; nothing if they differ.
std::optional<Layout> transfer(const ArenaProblem& from, const Layout& layout, const ArenaProblem& to,
                               Bytes alignment);

}  // namespace ebb::layout
