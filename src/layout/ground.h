// Fixed buffers and the free ones above them.
#pragma once

#include <optional>
#include <vector>

#include "layout/sections.h"

namespace ebb::layout {

// Per item: its fixed offset in units, or -1.
std::vector<Units> fixed_offsets(const Problem& problem, Bytes unit);

// The free items alone, on a base of the fixed ones; nothing if some fixed item has a hole below it, which
// the free items could use. REQUIRES: fixed items do not overlap each other.
std::optional<Instance> on_fixed_ground(const Instance& instance, const std::vector<Units>& fixed);

// The highest end of an item. REQUIRES: one offset per item.
Units height_of(const Instance& instance, const std::vector<Units>& offsets);

}  // namespace ebb::layout
