// One address range that is never exceeded, handed out in pieces. Reuse is ordered by events, not by waiting:
// a piece that was given back with events is handed on at once, together with them, and whoever takes it
// makes its engine wait.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "runtime/offset_map.h"

namespace ebb {

struct Region {
  Bytes offset = 0;
  Bytes bytes = 0;  // a multiple of the alignment
  Bytes end() const { return offset + bytes; }
  bool operator==(const Region&) const = default;
};

class Arena {
 public:
  static constexpr Bytes kAlignment = 512;

  // The last event of each engine, and the last that is unrecorded.
  using LastEvents = std::array<Event, kEngines + 1>;
  // A free piece, and when it can be used.
  struct Free {
    Bytes end = 0;
    LastEvents by = {};
  };

  // REQUIRES: capacity >= 0; it is rounded down to the alignment.
  explicit Arena(Bytes capacity);

  // A request of 0 bytes takes the smallest piece.
  static Bytes rounded(Bytes bytes) {
    return bytes <= 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // The smallest hole that fits, at its low end; `waits` gets the events after which the memory is free.
  // Nothing if no hole is large enough.
  std::optional<Region> take(Bytes bytes, std::vector<Event>& waits) {
    return take_below(capacity_, bytes, waits);
  }
  // The same of holes that have room for it below `end`.
  std::optional<Region> take_below(Bytes end, Bytes bytes, std::vector<Event>& waits);
  // The lowest hole that fits: for compaction.
  std::optional<Region> take_lowest(Bytes bytes, std::vector<Event>& waits);
  // The high end of the highest hole that fits, from `begin` on: for small pieces, which then lie together
  // and break up no large holes.
  std::optional<Region> take_highest(Bytes bytes, std::vector<Event>& waits, Bytes begin = 0);
  // A given place. Nothing if any of it is taken.
  std::optional<Region> take_at(Bytes offset, Bytes bytes, std::vector<Event>& waits);
  // The lowest place inside [begin, end). Nothing if no hole has that much of it.
  std::optional<Region> take_within(Bytes begin, Bytes end, Bytes bytes, std::vector<Event>& waits);
  // Is all of [begin, end) free? `waits` gets the events of copies after which what is free of it can be used
  // on compute.
  bool is_free(Bytes begin, Bytes end, std::vector<Event>& waits) const;
  // REQUIRES: the region was taken. It may be used again after the events, of which an engine's last counts.
  void give(const Region& region, std::span<const Event> freed_by);
  void give(const Region& region, Event freed_by) { give(region, std::span(&freed_by, 1)); }

  // Are there so many events that it is worth asking which have happened? Then `forget` those that have, so
  // that nobody waits for them: its cost is constant on average. `so_far`, of compute, stands for all that is
  // unrecorded from then on.
  bool has_much_to_forget() const { return pending_ >= forget_at_; }
  void forget(Backend& backend, Event so_far = kHappened);

  Bytes capacity() const { return capacity_; }
  Bytes in_use() const { return in_use_; }
  Bytes high_water() const { return high_water_; }
  // The most in use since the last call.
  Bytes take_peak() { return std::exchange(peak_, in_use_); }
  Bytes largest_hole() const;
  // Is there a hole that fits? Looks at high ones first, which are the larger ones if little is in use.
  bool has_hole(Bytes bytes) const;
  // The size of the hole that `take` would choose; 0 if there is none.
  Bytes best_hole(Bytes bytes) const { return best_below(capacity_, rounded(bytes)).bytes; }
  // Where `take_lowest` would begin.
  std::optional<Bytes> lowest_fit(Bytes bytes) const;
  // What `take` would take.
  std::optional<Region> best_fit(Bytes bytes) const;
  // The hole that ends at the offset; of 0 bytes if there is none.
  Region hole_below(Bytes offset) const;
  // What is free, in order. A hole is one piece, or several that touch and wait for different events.
  const OffsetMap<Free>& pieces() const { return pieces_; }
  std::size_t pending() const { return pending_; }

 private:
  static bool any(const LastEvents& by) { return (by[0] | by[1] | by[2] | by[3]) != kHappened; }
  using Pieces = OffsetMap<Free>;
  using Piece = Pieces::iterator;
  using ConstPiece = Pieces::const_iterator;
  // The hole that begins with the piece, which becomes the first one behind it.
  Region next_hole(ConstPiece& piece) const;
  // The high end of the highest hole that fits, from `begin` on: the piece its first byte lies in, and the
  // offset. Nothing if no hole is large enough.
  template <typename Map>
  static auto highest_fit(Map& pieces, Bytes bytes, Bytes begin);
  // The smallest hole that has room for it below `end`; of 0 bytes if there is none.
  Region best_below(Bytes end, Bytes bytes) const;
  // REQUIRES: all of it is free, and its first byte lies in the piece.
  Region carve(Piece piece, Bytes offset, Bytes bytes, std::vector<Event>& waits);

  Bytes capacity_;
  Bytes in_use_ = 0;
  Bytes high_water_ = 0;
  Bytes peak_ = 0;
  Pieces pieces_;
  std::size_t pending_ = 0;     // of them that have events
  std::size_t forget_at_ = 16;  // how many of those make it worth asking
};

}  // namespace ebb
