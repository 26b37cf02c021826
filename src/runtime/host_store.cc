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

std::optional<std::size_t> HostStore::add_slab(Bytes bytes) {
  Bytes slab_bytes = std::max(options_.slab_bytes, Arena::rounded(bytes));
  if (options_.limit > 0) slab_bytes = std::min(slab_bytes, options_.limit - reserved_);
  slab_bytes = slab_bytes / Arena::kAlignment * Arena::kAlignment;
  if (slab_bytes < bytes || slab_bytes <= 0) {
    refusal_ = fmt::format("host memory is full: {} bytes asked for, {} of {} in use, {} in slabs", bytes,
                           in_use_, options_.limit, reserved_);
    return std::nullopt;
  }
  try {
    slabs_.push_back({.begin = backend_.host_slab(slab_bytes), .arena = Arena(slab_bytes)});
  } catch (const BackendError& error) {
    refusal_ = fmt::format("host memory is full: {} bytes asked for, {} in use, {} in slabs: {}", bytes,
                           in_use_, reserved_, error.what());
    return std::nullopt;
  }
  reserved_ += slab_bytes;
  return slabs_.size() - 1;
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

std::optional<HostPlace> HostStore::take(Bytes bytes, std::vector<Event>& waits) {
  std::optional<std::size_t> slab = best_slab(bytes);
  if (!slab) slab = add_slab(bytes);
  if (!slab) return std::nullopt;
  if (slabs_[*slab].arena.has_much_to_forget()) slabs_[*slab].arena.forget(backend_);
  const std::optional<Region> region = slabs_[*slab].arena.take(bytes, waits);
  if (!region) return std::nullopt;
  in_use_ += region->bytes;
  high_water_ = std::max(high_water_, in_use_);
  return HostPlace{*slab, *region};
}

void HostStore::give(const HostPlace& place, std::span<const Event> freed_by) {
  slabs_[place.slab].arena.give(place.region, freed_by);
  in_use_ -= place.region.bytes;
}

std::byte* HostStore::address(const HostPlace& place) const {
  return slabs_[place.slab].begin + place.region.offset;
}

}  // namespace ebb
