// A lowered plan: every timing and every replayed op spelled out. Simulator, validator and runtime see only
// these and hold no policy of their own.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace ebb {

struct Swap {
  GapId gap = 0;
  BlockId block = 0;
  Bytes bytes = 0;
  bool clean = false;      // leaves without a copy
  OpIndex out_after = 0;   // relative to the iteration of the gap's `from`; may be negative
  OpIndex out_by = kAuto;  // kAuto: nobody waits for the copy-out
  OpIndex in_from = 0;     // unrolled; meaningless for trailing gaps
  OpIndex needed_at = 0;   // unrolled; for trailing gaps the gap's `to`
  bool operator==(const Swap&) const = default;
};

// One op of a replay. Steps for the same position are consecutive and in program order.
struct ReplayStep {
  OpIndex before = 0;   // the position the replay is for: runs after op before-1 and before op `before`
  OpIndex op = 0;       // the op that runs again
  Bytes allocates = 0;  // its outputs that are not made in place
  Bytes frees = 0;      // scratch and temporaries that go when it ends
  bool operator==(const ReplayStep&) const = default;
};

// A block leaves at once when op `after` has ended: dropped, clean, or the end of a stay.
struct Drop {
  OpIndex after = 0;
  GapId gap = 0;
  bool operator==(const Drop&) const = default;
};

struct LoweredPlan {
  Plan plan;                // all timing set; stays set for every recompute decision
  std::vector<Swap> swaps;  // ascending by gap
  std::vector<std::int32_t>
      outs;  // indices into swaps: the copy-outs (not clean) of one iteration in link order
  std::vector<std::int32_t>
      ins;  // indices into swaps: the copy-ins (not trailing) of one iteration in link order
  std::vector<ReplayStep> replays;  // in the order they run
  std::vector<Drop> drops;          // ascending by op
  std::vector<Bytes> freed;         // bytes that go when op j has ended: drops and deaths of resident blocks
  std::vector<Bytes> need;          // C[j]: bytes that must be present around op j, unmanaged included
  Bytes initial = 0;                // bytes present at the boundary, unmanaged included
  Bytes host_peak = 0;
};

// Why a plan cannot be carried out.
enum class Obstacle : char {
  none,
  too_large,      // C[op] = needed > available = limit
  not_remakable,  // a version cannot be computed again at this position
  bad_timing,     // a directive contradicts the gap it belongs to
  host_full,      // needed host bytes > available
  stuck,          // the order of copies contradicts itself
};

struct Infeasible {
  Obstacle obstacle = Obstacle::none;
  OpIndex op = kNoOp;
  BlockId block = -1;
  Bytes needed = 0;
  Bytes available = 0;
  std::string detail;

  // One sentence with op, block and sizes, for people.
  std::string sentence(const Program& program) const;
};

}  // namespace ebb
