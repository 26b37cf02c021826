// The picture of a layout that [SP] fig. 3 draws: a rectangle per buffer in time × address.
#pragma once

#include <string>

#include "layout/packing.h"

namespace ebb::layout {

// A self-contained SVG document. Each rectangle has its numbers as a title to hover over; a dashed line marks
// the peak load. Several arenas are stacked. REQUIRES: the layout fits and has an offset per buffer.
std::string draw_svg(const Problem& problem, const Layout& layout, const std::string& title);

}  // namespace ebb::layout
