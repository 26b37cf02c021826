// Packing around a core: the items that are alive while the load is close to its peak decide the footprint.
// They are few; they are searched exactly, the long-lived ones at the bottom, and the rest, which has room to
// spare, is placed greedily around them. On training steps this finds footprint = load in milliseconds.
//
//   load                 core
//     ^               ,-^-^-,           --- share of the peak
//     |         ,-^--'      '-,
//     |    ,---'               '---,
//     +---------------------------------> time
#pragma once

#include <cstdint>

#include "layout/descent.h"

namespace ebb::layout {

// Items; more are not searched exactly. A core's pieces are searched briefly, so that it may be larger.
inline constexpr std::size_t kLargestSearch = 2'000;
inline constexpr std::size_t kLargestCore = 10'000;

// Lowers the height of `start` to the goal by one core: the sections with at least this share of the peak
// load. Gives `start` back if the core is too large or too hard, or the rest does not fit around it.
// REQUIRES: all sections have the same base.
PartLayout pack_around_core(double share, Units goal, const Instance& part, PartLayout start,
                            std::uint64_t seed, SearchBudget& budget);

// Tries smaller and larger cores, with and without small items, and other orders around them, until the goal
// is reached, a core proves that it cannot be, or the budget is spent.
PartLayout pack_around_cores(Units goal, const Instance& part, PartLayout start, std::uint64_t seed,
                             SearchBudget& budget);

}  // namespace ebb::layout
