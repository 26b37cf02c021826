#include "runtime/arena.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace ebb {

Arena::Arena(Bytes capacity) : capacity_(capacity / kAlignment * kAlignment) {
  if (capacity_ > 0) add_hole(0, capacity_);
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
  // Pieces that are only partly taken stay pending as a whole: waiting once too often is safe.
  for (const Pending& piece : pending_)
    if (piece.region.offset < taken.end() && taken.offset < piece.region.end()) waits.push_back(piece.event);
  std::erase_if(pending_, [&](const Pending& piece) {
    return taken.offset <= piece.region.offset && piece.region.end() <= taken.end();
  });
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
  for (const Pending& piece : pending_)
    if (piece.region.offset < end && begin < piece.region.end()) waits.push_back(piece.event);
}

void Arena::give(const Region& region, std::span<const Event> freed_by) {
  assert(region.bytes > 0 && region.end() <= capacity_ && "a region that was never taken");
  for (const Event event : freed_by)
    if (event != kHappened) pending_.push_back({region, event});
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
  if (pending_.size() < forget_at_) return;
  std::erase_if(pending_, [&](const Pending& piece) { return backend.happened(piece.event); });
  forget_at_ = std::max(std::size_t{16}, 2 * pending_.size());
}

}  // namespace ebb
