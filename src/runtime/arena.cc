#include "runtime/arena.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "backend/events.h"

namespace ebb {

Arena::Arena(Bytes capacity) : capacity_(capacity / kAlignment * kAlignment) {
  if (capacity_ > 0) pieces_.emplace(0, {.end = capacity_});
}

Region Arena::carve(Piece piece, Bytes offset, Bytes bytes, std::vector<Event>& waits) {
  const Region taken{offset, bytes};
  LastEvents last = {};
  for (Bytes end = 0; end < taken.end();) {
    const LastEvents& by = piece->second.by;
    const bool is_pending = any(by);
    if (is_pending)
      for (std::size_t i = 0; i < last.size(); ++i) last[i] = std::max(last[i], by[i]);
    end = piece->second.end;
    if (piece->first < offset) {
      const Free above = piece->second;
      piece->second.end = offset;
      if (end > taken.end()) {
        pieces_.insert_behind(piece, taken.end(), above);
        pending_ += is_pending;
        break;
      }
      ++piece;
    } else if (end > taken.end()) {
      pieces_.set_offset(piece, taken.end());
    } else {
      piece = pieces_.erase(piece);
      pending_ -= is_pending;
    }
  }
  for (const Event event : last)
    if (event != kHappened) waits.push_back(event);
  in_use_ += bytes;
  high_water_ = std::max(high_water_, in_use_);
  peak_ = std::max(peak_, in_use_);
  return taken;
}

Region Arena::next_hole(ConstPiece& piece) const {
  const Bytes begin = piece->first;
  Bytes end = begin;
  for (; piece != pieces_.end() && (piece->first == end); ++piece) end = piece->second.end;
  return {begin, end - begin};
}

Region Arena::best_below(Bytes end, Bytes bytes) const {
  Region best;
  for (ConstPiece piece = pieces_.begin(); piece != pieces_.end() && piece->first + bytes <= end;) {
    const Region hole = next_hole(piece);
    if (hole.bytes >= bytes && (best.bytes == 0 || hole.bytes < best.bytes)) best = hole;
    if (best.bytes == bytes) break;
  }
  return best;
}

Bytes Arena::largest_hole() const {
  Bytes largest = 0;
  for (ConstPiece piece = pieces_.begin(); piece != pieces_.end();)
    largest = std::max(largest, next_hole(piece).bytes);
  return largest;
}

template <typename Map>
auto Arena::highest_fit(Map& pieces, Bytes bytes, Bytes begin) {
  std::optional<std::pair<decltype(pieces.end()), Bytes>> found;
  Bytes low = -1, high = -1;  // of the hole, as far as it is known
  for (auto piece = pieces.end(); !found && piece != pieces.begin() && (low < 0 || low > begin);) {
    --piece;
    if (piece->second.end != low) high = piece->second.end;
    low = piece->first;
    if (high - bytes >= std::max(low, begin)) found.emplace(piece, high - bytes);
  }
  return found;
}

bool Arena::has_hole(Bytes bytes) const { return highest_fit(pieces_, rounded(bytes), 0).has_value(); }

Region Arena::hole_below(Bytes offset) const {
  Bytes begin = offset;
  for (ConstPiece piece = pieces_.lower_bound(offset); piece != pieces_.begin(); begin = piece->first) {
    --piece;
    if (piece->second.end != begin) break;
  }
  return {begin, offset - begin};
}

std::optional<Region> Arena::best_fit(Bytes bytes) const {
  const Region hole = best_below(capacity_, rounded(bytes));
  if (hole.bytes == 0) return std::nullopt;
  return Region{hole.offset, rounded(bytes)};
}

std::optional<Region> Arena::take_below(Bytes end, Bytes bytes, std::vector<Event>& waits) {
  const Region hole = best_below(end, rounded(bytes));
  return hole.bytes > 0 ? take_at(hole.offset, bytes, waits) : std::nullopt;
}

std::optional<Bytes> Arena::lowest_fit(Bytes bytes) const {
  for (ConstPiece piece = pieces_.begin(); piece != pieces_.end();) {
    const Region hole = next_hole(piece);
    if (hole.bytes >= rounded(bytes)) return hole.offset;
  }
  return std::nullopt;
}

std::optional<Region> Arena::take_lowest(Bytes bytes, std::vector<Event>& waits) {
  const std::optional<Bytes> offset = lowest_fit(bytes);
  return offset ? take_at(*offset, bytes, waits) : std::nullopt;
}

std::optional<Region> Arena::take_highest(Bytes bytes, std::vector<Event>& waits, Bytes begin) {
  bytes = rounded(bytes);
  const auto found = highest_fit(pieces_, bytes, begin);
  if (!found) return std::nullopt;
  return carve(found->first, found->second, bytes, waits);
}

std::optional<Region> Arena::take_at(Bytes offset, Bytes bytes, std::vector<Event>& waits) {
  return take_within(offset, offset + rounded(bytes), bytes, waits);
}

std::optional<Region> Arena::take_within(Bytes begin, Bytes end, Bytes bytes, std::vector<Event>& waits) {
  bytes = rounded(bytes);
  Piece first;               // of the hole
  Bytes low = 0, high = -1;  // of the hole, as far as it is known
  for (Piece piece = pieces_.first_from(begin); piece != pieces_.end() && piece->first < end; ++piece) {
    if (piece->first != high) {
      first = piece;
      low = std::max(begin, piece->first);
    }
    high = piece->second.end;
    if (std::min(end, high) - low >= bytes) return carve(first, low, bytes, waits);
  }
  return std::nullopt;
}

bool Arena::is_free(Bytes begin, Bytes end, std::vector<Event>& waits) const {
  Event out = kHappened, in = kHappened;
  Bytes free_until = begin;
  for (ConstPiece piece = pieces_.first_from(begin); piece != pieces_.end() && piece->first < end; ++piece) {
    const Free& free = piece->second;
    if (free.end <= begin) continue;
    if (piece->first <= free_until) free_until = free.end;
    out = std::max(out, free.by[index_of(Engine::out)]);
    in = std::max(in, free.by[index_of(Engine::in)]);
  }
  if (out != kHappened) waits.push_back(out);
  if (in != kHappened) waits.push_back(in);
  return free_until >= end;
}

void Arena::give(const Region& region, std::span<const Event> freed_by) {
  assert(region.bytes > 0 && region.end() <= capacity_ && "a region that was never taken");
  Free freed{.end = region.end()};
  for (const Event event : freed_by)
    if (event != kHappened) {
      Event& last = freed.by[is_unrecorded(event) ? kEngines : index_of(engine_of(event))];
      last = std::max(last, event);
    }
  in_use_ -= region.bytes;
  const Piece below = pieces_.at_or_before(region.offset);
  assert((below == pieces_.end() || below->second.end <= region.offset) && "a region was given back twice");
  if (any(freed.by)) {
    ++pending_;
    return pieces_.insert_behind(below, region.offset, freed);
  }
  const Piece above = below == pieces_.end() ? pieces_.begin() : std::next(below);
  assert((above == pieces_.end() || above->first >= region.end()) && "a region was given back twice");
  const bool joins_above = above != pieces_.end() && above->first == region.end() && !any(above->second.by);
  if (joins_above) freed.end = above->second.end;
  if (below != pieces_.end() && below->second.end == region.offset && !any(below->second.by)) {
    below->second.end = freed.end;
    if (joins_above) pieces_.erase(above);
  } else if (joins_above) {
    pieces_.set_offset(above, region.offset);
  } else {
    pieces_.insert_behind(below, region.offset, freed);
  }
}

void Arena::forget(Backend& backend, Event so_far) {
  // The last of each engine known to have happened, and the first known to be ahead.
  std::array<Event, kEngines> past = {}, ahead = {};
  const auto happened = [&](Event event) {
    const std::size_t engine = index_of(engine_of(event));
    if (event <= past[engine]) return true;
    if (ahead[engine] != kHappened && event >= ahead[engine]) return false;
    const bool answer = backend.happened(event);
    (answer ? past : ahead)[engine] = event;
    return answer;
  };
  std::size_t pending = 0;
  Bytes end_without = -1;  // of the piece before, if it has no events
  for (Piece piece = pieces_.begin(); piece != pieces_.end();) {
    LastEvents& by = piece->second.by;
    if (by[kEngines] != kHappened && so_far != kHappened) {
      by[index_of(Engine::compute)] = so_far;
      by[kEngines] = kHappened;
    }
    for (Event& event : by)
      if (event != kHappened && !is_unrecorded(event) && happened(event)) event = kHappened;
    if (any(by)) {
      ++pending;
      end_without = -1;
      ++piece;
    } else if (piece->first == std::exchange(end_without, piece->second.end)) {
      piece = pieces_.erase(piece);
      std::prev(piece)->second.end = end_without;
    } else {
      ++piece;
    }
  }
  pending_ = pending;
  forget_at_ = std::max({std::size_t{16}, 2 * pending_, pieces_.size()});
}

}  // namespace ebb
