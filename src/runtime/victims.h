// Who has to go when one contiguous piece of the arena is wanted: the cheapest window of neighbours.
//
//   |  A  |hole| B |  pinned  |   C   |hole|      A and B, with the hole between them, or C with the one
//   after it?
//   `-- window --'            `-- window --'
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "trace/quantities.h"

namespace ebb {

inline constexpr double kImmovable = std::numeric_limits<double>::infinity();

// A block or a hole; together they cover an address range without gaps.
struct ArenaPiece {
  Bytes offset = 0;
  Bytes bytes = 0;
  double cost = 0;  // of moving it away: 0 for a hole, kImmovable for what is pinned
  Bytes end() const { return offset + bytes; }
};

// Pieces [first, last).
struct PieceWindow {
  std::size_t first = 0;
  std::size_t last = 0;
  bool operator==(const PieceWindow&) const = default;
};

// The window of at least `need` bytes with the least sum of costs; of equal ones the one with fewer bytes,
// then the lower. Nothing if pinned pieces leave no room. REQUIRES: need > 0.
std::optional<PieceWindow> cheapest_window(std::span<const ArenaPiece> pieces, Bytes need);

// What it costs that a block is away: the time to bring it back (and to take it away, unless it is clean),
// per op until it is expected to be wanted again.
struct Victim {
  Nanoseconds copy_out = 0;  // 0 if clean
  Nanoseconds copy_in = 0;
  std::optional<Nanoseconds> remake = {};  // if it can be computed again
  std::int64_t idle_ops = 0;               // since its last use: the guess at the distance to its next …
  std::optional<std::int64_t> next_use_in = {};  // … unless it is known, in ops
};
double cost_of(const Victim& victim);

}  // namespace ebb
