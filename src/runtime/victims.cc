#include "runtime/victims.h"

#include <algorithm>

namespace ebb {

std::optional<PieceWindow> cheapest_window(std::span<const ArenaPiece> pieces, Bytes need) {
  std::optional<PieceWindow> best;
  double best_cost = 0;
  Bytes best_bytes = 0;
  std::size_t first = 0;
  Bytes bytes = 0;
  for (std::size_t last = 0; last < pieces.size(); ++last) {
    if (pieces[last].cost == kImmovable) {
      first = last + 1;
      bytes = 0;
      continue;
    }
    bytes += pieces[last].bytes;
    while (first < last && bytes - pieces[first].bytes >= need) bytes -= pieces[first++].bytes;
    if (bytes < need) continue;
    // Summed anew, because sums kept by subtraction would drift, but no further than it matters.
    double cost = 0;
    for (std::size_t i = first; i <= last && !(best && cost > best_cost); ++i) cost += pieces[i].cost;
    if (best && (cost > best_cost || (cost == best_cost && bytes >= best_bytes))) continue;
    best = PieceWindow{first, last + 1};
    best_cost = cost;
    best_bytes = bytes;
  }
  return best;
}

double cost_of(const Victim& victim) {
  Nanoseconds time = victim.copy_out + victim.copy_in;
  if (victim.remake) time = std::min(time, *victim.remake);
  const std::int64_t distance = victim.next_use_in.value_or(victim.idle_ops);
  return static_cast<double>(time + 1) / static_cast<double>(std::max<std::int64_t>(distance, 0) + 1);
}

}  // namespace ebb
