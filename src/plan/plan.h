// A Plan: one decision per gap. Timing may be left out (kAuto); `lower` fills it in.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "plan/gaps.h"

namespace ebb {

enum class Action : char { keep, swap, recompute };

inline constexpr OpIndex kAuto = std::numeric_limits<OpIndex>::min();

// Meanings in docs/notes/simulation.md. All positions are relative to the iteration of the gap's `from`.
struct Decision {
  Action action = Action::keep;
  OpIndex out_after = kAuto;  // swap: the copy-out may start when this op has ended
  OpIndex out_by = kAuto;     // swap: this op waits for the end of the copy-out; kAuto: none does
  OpIndex in_from = kAuto;    // swap: the copy-in may start at this position
  OpIndex in_by = kAuto;      // swap: this op waits for the copy-in even if it does not read the block
  OpIndex out_order = kAuto;  // swap: rank on the link; default: `from`, and the position of need
  OpIndex in_order = kAuto;
  std::optional<std::vector<OpRange>> stays;  // recompute: ascending, disjoint; nullopt: `lower` chooses
  bool operator==(const Decision&) const = default;
};

struct Plan {
  std::vector<Decision> decisions;  // indexed by GapId
  bool operator==(const Plan&) const = default;

  static Plan keep_all(const Gaps& gaps) {
    return {std::vector<Decision>(static_cast<std::size_t>(gaps.count()))};
  }
  Decision& operator[](GapId g) { return decisions[static_cast<std::size_t>(g)]; }
  const Decision& operator[](GapId g) const { return decisions[static_cast<std::size_t>(g)]; }
};

}  // namespace ebb
