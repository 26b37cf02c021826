#include "runtime/arena.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "backend/events.h"

namespace ebb {

Arena::Arena(Bytes capacity) : capacity_(capacity / kAlignment * kAlignment) {
  if (capacity_ > 0) add_hole(0, capacity_);
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

void Arena::add_hole(Bytes offset, Bytes bytes) {
  holes_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
}

void Arena::remove_hole(Bytes offset, Bytes bytes) {
  holes_.erase(offset);
  by_size_.erase({bytes, offset});
}

Region Arena::carve(Bytes hole_offset, Bytes hole_bytes, Bytes offset, Bytes bytes,
                    std::vector<Event>& waits) {
  remove_hole(hole_offset, hole_bytes);
  const Region taken{offset, bytes};
  if (offset > hole_offset) add_hole(hole_offset, offset - hole_offset);
  if (hole_offset + hole_bytes > taken.end()) add_hole(taken.end(), hole_offset + hole_bytes - taken.end());
  in_use_ += bytes;
  high_water_ = std::max(high_water_, in_use_);
  peak_ = std::max(peak_, in_use_);
  LastEvents last = {};
  auto piece = first_behind(freed_, taken.offset);
  while (piece != freed_.end() && piece->first < taken.end()) {
    const auto [begin, freed] = *piece;
    add_last(last, freed.by);
    piece = freed_.erase(piece);
    if (begin < taken.offset) freed_.emplace_hint(piece, begin, Freed{taken.offset, freed.by});
    if (taken.end() < freed.end) freed_.emplace_hint(piece, taken.end(), Freed{freed.end, freed.by});
  }
  list(last, waits);
  return taken;
}

Bytes Arena::best_hole(Bytes bytes) const {
  const auto it = by_size_.lower_bound({rounded(bytes), 0});
  return it == by_size_.end() ? 0 : it->first;
}

std::optional<Region> Arena::best_fit(Bytes bytes) const {
  const auto it = by_size_.lower_bound({rounded(bytes), 0});
  if (it == by_size_.end()) return std::nullopt;
  return Region{it->second, rounded(bytes)};
}

std::optional<Region> Arena::take_below(Bytes end, Bytes bytes, std::vector<Event>& waits) {
  bytes = rounded(bytes);
  for (auto it = by_size_.lower_bound({bytes, 0}); it != by_size_.end(); ++it) {
    const auto [hole_bytes, hole_offset] = *it;
    if (hole_offset + bytes <= end) return carve(hole_offset, hole_bytes, hole_offset, bytes, waits);
  }
  return std::nullopt;
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
  for (auto it = holes_.rbegin(); it != holes_.rend(); ++it) {
    const auto [hole_offset, hole_bytes] = *it;
    const Bytes offset = hole_offset + hole_bytes - bytes;
    if (offset >= std::max(hole_offset, begin)) return carve(hole_offset, hole_bytes, offset, bytes, waits);
    if (hole_offset <= begin) break;
  }
  return std::nullopt;
}

std::optional<Region> Arena::take_at(Bytes offset, Bytes bytes, std::vector<Event>& waits) {
  bytes = rounded(bytes);
  auto it = holes_.upper_bound(offset);
  if (it == holes_.begin()) return std::nullopt;
  --it;
  const auto [hole_offset, hole_bytes] = *it;
  if (hole_offset + hole_bytes < offset + bytes) return std::nullopt;
  return carve(hole_offset, hole_bytes, offset, bytes, waits);
}

std::optional<Region> Arena::take_within(Bytes begin, Bytes end, Bytes bytes, std::vector<Event>& waits) {
  bytes = rounded(bytes);
  auto it = holes_.upper_bound(begin);
  if (it != holes_.begin()) --it;
  for (; it != holes_.end() && it->first < end; ++it) {
    const auto [hole_offset, hole_bytes] = *it;
    const Bytes low = std::max(begin, hole_offset);
    if (std::min(end, hole_offset + hole_bytes) - low >= bytes)
      return carve(hole_offset, hole_bytes, low, bytes, waits);
  }
  return std::nullopt;
}

bool Arena::is_free(Bytes begin, Bytes end) const {
  auto it = holes_.upper_bound(begin);
  if (it == holes_.begin()) return false;
  --it;
  return it->first + it->second >= end;
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
  Bytes begin = region.offset;
  Bytes end = region.end();
  const auto next = holes_.lower_bound(begin);
  assert((next == holes_.end() || next->first >= end) && "a region was given back twice");
  if (next != holes_.end() && next->first == end) {
    end += next->second;
    remove_hole(next->first, next->second);
  }
  const auto after = holes_.lower_bound(begin);
  if (after != holes_.begin()) {
    const auto previous = std::prev(after);
    const auto [offset, bytes] = *previous;
    assert(offset + bytes <= begin && "a region was given back twice");
    if (offset + bytes == begin) {
      begin = offset;
      remove_hole(offset, bytes);
    }
  }
  add_hole(begin, end - begin);
}

void Arena::forget(Backend& backend) {
  if (freed_.size() < forget_at_) return;
  for (auto piece = freed_.begin(); piece != freed_.end();) {
    for (Event& event : piece->second.by)
      if (event != kHappened && !is_unrecorded(event) && backend.happened(event)) event = kHappened;
    piece = piece->second.by == LastEvents{} ? freed_.erase(piece) : std::next(piece);
  }
  forget_at_ = std::max(std::size_t{16}, 2 * freed_.size());
}

}  // namespace ebb
