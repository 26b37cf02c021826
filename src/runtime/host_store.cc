#include "runtime/host_store.h"

#include <fmt/format.h>

#include <algorithm>

namespace ebb {

std::optional<std::size_t> HostStore::best_slab(Bytes bytes) const {
  std::optional<std::size_t> best;
  Bytes best_hole = 0;
  for (std::size_t i = 0; i < slabs_.size(); ++i) {
    const Bytes hole = slabs_[i].arena.best_hole(bytes);
    if (hole == 0 || (best && hole >= best_hole)) continue;
    best = i;
    best_hole = hole;
  }
  return best;
}

bool HostStore::add_slab(Bytes bytes) {
  Bytes slab_bytes = std::max(options_.slab_bytes, Arena::rounded(bytes));
  if (options_.limit > 0) slab_bytes = std::min(slab_bytes, options_.limit - reserved_);
  slab_bytes = slab_bytes / Arena::kAlignment * Arena::kAlignment;
  if (slab_bytes < bytes || slab_bytes <= 0) {
    refusal_ = fmt::format("host memory is full: {} bytes asked for, {} of {} in use, {} in slabs", bytes,
                           in_use_, options_.limit, reserved_);
    return false;
  }
  try {
    slabs_.push_back({.begin = backend_.host_slab(slab_bytes), .arena = Arena(slab_bytes)});
  } catch (const BackendError& error) {
    refusal_ = fmt::format("host memory is full: {} bytes asked for, {} in use, {} in slabs: {}", bytes,
                           in_use_, reserved_, error.what());
    return false;
  }
  reserved_ += slab_bytes;
  return true;
}

Bytes HostStore::promise(Bytes bytes) {
  const Bytes slabs = (bytes + options_.slab_bytes - 1) / options_.slab_bytes * options_.slab_bytes;
  Bytes missing = std::max(Bytes{0}, slabs - reserved_);
  if (options_.limit > 0) missing = std::min(missing, options_.limit - reserved_);
  missing = std::max(Bytes{0}, missing / Arena::kAlignment * Arena::kAlignment);
  reserved_ += missing;
  return missing;
}

void HostStore::adopt(std::byte* slab, Bytes bytes) {
  slabs_.push_back({.begin = slab, .arena = Arena(bytes)});
}

HostStore::Shelf* HostStore::shelf_of(Bytes bytes) {
  for (Shelf& shelf : shelves_)
    if (shelf.bytes == bytes) return &shelf;
  return nullptr;
}

bool HostStore::clear_shelves() {
  bool cleared = false;
  for (const Shelf& shelf : shelves_)
    for (const auto& [place, freed_by] : shelf.places) {
      slabs_[place.slab].arena.give(place.region, freed_by);
      cleared = true;
    }
  shelves_.clear();
  return cleared;
}

std::optional<HostPlace> HostStore::take_shelved(Bytes bytes, std::vector<Event>& waits) {
  Shelf* shelf = shelf_of(bytes);
  if (!shelf || shelf->places.empty()) return std::nullopt;
  const auto [place, freed_by] = shelf->places.back();
  shelf->places.pop_back();
  if (freed_by != kHappened) waits.push_back(freed_by);
  return place;
}

std::optional<HostPlace> HostStore::take_best(Bytes bytes, std::vector<Event>& waits) {
  const std::optional<std::size_t> slab = best_slab(bytes);
  if (!slab) return std::nullopt;
  Arena& arena = slabs_[*slab].arena;
  if (arena.has_much_to_forget()) arena.forget(backend_);
  return HostPlace{*slab, *arena.take(bytes, waits)};
}

std::optional<HostPlace> HostStore::take(Bytes bytes, std::vector<Event>& waits) {
  std::optional<HostPlace> place = take_shelved(Arena::rounded(bytes), waits);
  if (!place) place = take_best(bytes, waits);
  if (!place && clear_shelves()) place = take_best(bytes, waits);
  if (!place && add_slab(bytes)) place = take_best(bytes, waits);
  if (!place) return std::nullopt;
  in_use_ += place->region.bytes;
  high_water_ = std::max(high_water_, in_use_);
  return place;
}

void HostStore::give(const HostPlace& place, Event freed_by) {
  in_use_ -= place.region.bytes;
  Shelf* shelf = shelf_of(place.region.bytes);
  if (!shelf) {
    // Sizes of the past would keep those of now from having any.
    if (shelves_.size() == kMostShelves) clear_shelves();
    shelf = &shelves_.emplace_back(Shelf{.bytes = place.region.bytes});
  }
  shelf->places.push_back({place, freed_by});
}

std::byte* HostStore::address(const HostPlace& place) const {
  return slabs_[place.slab].begin + place.region.offset;
}

}  // namespace ebb
