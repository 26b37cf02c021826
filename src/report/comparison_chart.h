// `ebb compare` as a figure: overhead against memory, a line per planner, the bound dashed, as [SP] fig. 11,
// [DQN] fig. 5 and [OFF] fig. 5 draw it.
#pragma once

#include <string>
#include <vector>

#include "report/comparison.h"

namespace ebb::report {

// An SVG document; several comparisons one below the other.
std::string draw_comparisons(const std::vector<Comparison>& comparisons);

}  // namespace ebb::report
