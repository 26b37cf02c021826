// How much an op mallocs beside what it leaves behind.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/arena.h"
#include "runtime/recorder.h"

namespace ebb {

// The room that its temporaries need, each put at the lowest place that is free, as the arena does it within
// a workspace: at least their peak, and more if they leave holes. `outlives` says which blocks are none.
template <typename Outlives>
Bytes workspace_of(std::span<const RecordedMemory> memory, Outlives&& outlives) {
  struct Piece {
    Handle block;
    Bytes begin, end;
  };
  std::vector<Piece> pieces;  // by place
  Bytes most = 0;
  for (const RecordedMemory& event : memory) {
    if (!event.is_malloc) {
      std::erase_if(pieces, [&](const Piece& piece) { return piece.block == event.block; });
      continue;
    }
    if (outlives(event.block)) continue;
    const Bytes bytes = Arena::rounded(event.bytes);
    Bytes begin = 0;
    auto next = pieces.begin();
    for (; next != pieces.end() && next->begin - begin < bytes; ++next) begin = next->end;
    pieces.insert(next, {event.block, begin, begin + bytes});
    most = std::max(most, begin + bytes);
  }
  return most;
}

}  // namespace ebb
