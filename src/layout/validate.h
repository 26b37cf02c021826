// Judges a layout without any of the code that made it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "layout/packing.h"

namespace ebb::layout {

enum class Rule {
  kMissing,         // no offset for a buffer, or no layout at all
  kNegativeOffset,  // below the arena
  kAlignment,       // offset is not a multiple of the alignment
  kFixedOffset,     // a fixed buffer lies elsewhere
  kArena,           // no such arena
  kCapacity,        // above the end of the arena
  kFootprint,       // the stated footprint is not the highest end of a buffer
  kOverlap,         // two buffers share a moment and an address
};

struct Violation {
  Rule rule = Rule::kMissing;
  std::optional<BufferId> buffer = {};
  std::optional<BufferId> other = {};  // the second of an overlapping pair
  std::string message = {};            // a sentence with all numbers
};

// All broken rules; empty if the layout is valid. Of overlaps, at least one is named if there are any.
// `options` are those the layout was made with: alignment, capacity and arenas are used.
std::vector<Violation> validate(const Problem& problem, const Layout& layout,
                                const PackOptions& options = {});

}  // namespace ebb::layout
