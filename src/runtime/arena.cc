#include "runtime/arena.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "backend/events.h"

namespace ebb {

Arena::Arena(Bytes capacity) : capacity_(capacity / kAlignment * kAlignment) {
  if (capacity_ > 0) holes_.emplace(0, capacity_);
}

template <typename Pieces>
auto Arena::first_behind(Pieces& pieces, Bytes offset) {
  auto piece = pieces.upper_bound(offset);
  if (piece != pieces.begin() && std::prev(piece)->second.end > offset) --piece;
  return piece;
}

void Arena::add_last(LastEvents& all, const LastEvents& more) {
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], more[i]);
}

void Arena::list(const LastEvents& by, std::vector<Event>& waits) {
  for (const Event event : by)
    if (event != kHappened) waits.push_back(event);
}

Region Arena::carve(Hole hole, Bytes offset, Bytes bytes, std::vector<Event>& waits) {
  const Region taken{offset, bytes};
  const Bytes low = hole->first;
  const Bytes above = low + hole->second - taken.end();
  if (offset > low) {
    hole->second = offset - low;
    if (above > 0) holes_.emplace(taken.end(), above);
  } else if (above > 0) {
    hole->second = above;
    holes_.set_offset(hole, taken.end());
  } else {
    holes_.erase(hole);
  }
  in_use_ += bytes;
  high_water_ = std::max(high_water_, in_use_);
  peak_ = std::max(peak_, in_use_);
  take_events(taken, waits);
  return taken;
}

void Arena::take_events(const Region& taken, std::vector<Event>& waits) {
  LastEvents last = {};
  Freed above = {};  // what is left of a piece behind the region
  auto piece = first_behind(freed_, taken.offset);
  while (piece != freed_.end() && piece->first < taken.end()) {
    add_last(last, piece->second.by);
    if (piece->second.end > taken.end()) above = piece->second;
    if (piece->first < taken.offset) {
      piece->second.end = taken.offset;
      ++piece;
    } else {
      piece = freed_.erase(piece);
    }
  }
  if (above.end > 0) freed_.emplace(taken.end(), above);
  list(last, waits);
}

OffsetMap<Bytes>::const_iterator Arena::best_below(Bytes end, Bytes bytes) const {
  auto best = holes_.end();
  for (auto hole = holes_.begin(); hole != holes_.end() && hole->first + bytes <= end; ++hole)
    if (hole->second >= bytes && (best == holes_.end() || hole->second < best->second)) best = hole;
  return best;
}

Bytes Arena::largest_hole() const {
  Bytes largest = 0;
  for (const auto& [offset, bytes] : holes_) largest = std::max(largest, bytes);
  return largest;
}

Bytes Arena::best_hole(Bytes bytes) const {
  const auto hole = best_below(capacity_, rounded(bytes));
  return hole == holes_.end() ? 0 : hole->second;
}

std::optional<Region> Arena::best_fit(Bytes bytes) const {
  const auto hole = best_below(capacity_, rounded(bytes));
  if (hole == holes_.end()) return std::nullopt;
  return Region{hole->first, rounded(bytes)};
}

std::optional<Region> Arena::take_below(Bytes end, Bytes bytes, std::vector<Event>& waits) {
  bytes = rounded(bytes);
  const auto hole = best_below(end, bytes);
  if (hole == holes_.end()) return std::nullopt;
  return take_at(hole->first, bytes, waits);
}

std::optional<Bytes> Arena::lowest_fit(Bytes bytes) const {
  const auto fits = [bytes = rounded(bytes)](const auto& hole) { return hole.second >= bytes; };
  const auto it = std::find_if(holes_.begin(), holes_.end(), fits);
  if (it == holes_.end()) return std::nullopt;
  return it->first;
}

std::optional<Region> Arena::take_lowest(Bytes bytes, std::vector<Event>& waits) {
  const std::optional<Bytes> offset = lowest_fit(bytes);
  return offset ? take_at(*offset, bytes, waits) : std::nullopt;
}

std::optional<Region> Arena::take_highest(Bytes bytes, std::vector<Event>& waits, Bytes begin) {
  bytes = rounded(bytes);
  for (Hole hole = holes_.end(); hole != holes_.begin();) {
    --hole;
    const Bytes offset = hole->first + hole->second - bytes;
    if (offset >= std::max(hole->first, begin)) return carve(hole, offset, bytes, waits);
    if (hole->first <= begin) break;
  }
  return std::nullopt;
}

std::optional<Region> Arena::take_at(Bytes offset, Bytes bytes, std::vector<Event>& waits) {
  bytes = rounded(bytes);
  const Hole hole = holes_.at_or_before(offset);
  if (hole == holes_.end() || hole->first + hole->second < offset + bytes) return std::nullopt;
  return carve(hole, offset, bytes, waits);
}

std::optional<Region> Arena::take_within(Bytes begin, Bytes end, Bytes bytes, std::vector<Event>& waits) {
  bytes = rounded(bytes);
  Hole hole = holes_.at_or_before(begin);
  if (hole == holes_.end()) hole = holes_.begin();
  for (; hole != holes_.end() && hole->first < end; ++hole) {
    const Bytes low = std::max(begin, hole->first);
    if (std::min(end, hole->first + hole->second) - low >= bytes) return carve(hole, low, bytes, waits);
  }
  return std::nullopt;
}

bool Arena::is_free(Bytes begin, Bytes end) const {
  const auto hole = holes_.at_or_before(begin);
  return hole != holes_.end() && hole->first + hole->second >= end;
}

void Arena::waits_within(Bytes begin, Bytes end, std::vector<Event>& waits) const {
  LastEvents last = {};
  for (auto piece = first_behind(freed_, begin); piece != freed_.end() && piece->first < end; ++piece)
    add_last(last, piece->second.by);
  list(last, waits);
}

void Arena::give(const Region& region, std::span<const Event> freed_by) {
  assert(region.bytes > 0 && region.end() <= capacity_ && "a region that was never taken");
  Freed freed{.end = region.end()};
  for (const Event event : freed_by)
    if (event != kHappened) {
      Event& last = freed.by[is_unrecorded(event) ? kEngines : index_of(engine_of(event))];
      last = std::max(last, event);
    }
  if (freed.by != LastEvents{}) freed_.emplace(region.offset, freed);
  in_use_ -= region.bytes;
  const Hole above = holes_.lower_bound(region.offset);
  assert((above == holes_.end() || above->first >= region.end()) && "a region was given back twice");
  const bool joins_above = above != holes_.end() && above->first == region.end();
  if (above != holes_.begin()) {
    const Hole below = std::prev(above);
    assert(below->first + below->second <= region.offset && "a region was given back twice");
    if (below->first + below->second == region.offset) {
      below->second += region.bytes + (joins_above ? above->second : 0);
      if (joins_above) holes_.erase(above);
      return;
    }
  }
  if (!joins_above) return holes_.emplace(region.offset, region.bytes);
  above->second += region.bytes;
  holes_.set_offset(above, region.offset);
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
  for (auto piece = freed_.begin(); piece != freed_.end();) {
    LastEvents& by = piece->second.by;
    if (by[kEngines] != kHappened && so_far != kHappened) {
      by[index_of(Engine::compute)] = so_far;
      by[kEngines] = kHappened;
    }
    for (Event& event : by)
      if (event != kHappened && !is_unrecorded(event) && happened(event)) event = kHappened;
    piece = by == LastEvents{} ? freed_.erase(piece) : std::next(piece);
  }
  forget_at_ = std::max(std::size_t{16}, 2 * freed_.size());
}

}  // namespace ebb
