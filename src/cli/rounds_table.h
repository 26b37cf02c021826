// How a search went, for people: its rounds in at most ten lines.
#pragma once

#include <span>
#include <string>

#include "planners/planner.h"

namespace ebb::cli {

//   rounds   no plan  mean overhead  best overhead
//   1-30           2         12.1 %          4.1 %
// Overheads are against a plain step of this time; empty if there are no rounds.
std::string rounds_table(std::span<const SearchRound> rounds, Nanoseconds plain);

}  // namespace ebb::cli
