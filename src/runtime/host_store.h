// Host memory for blocks that are away: slabs that copies run at full speed from and to, filled best-fit.
// Reuse is ordered by events, as in the arena. Slabs are never given back; a block larger than a slab gets
// one of its own, which later serves others.
//
// The blocks of an iteration have few sizes, and the same ones come with the next: a place that is given back
// stays in one piece, on the shelf of its size, where the next of that size finds it without a search. The
// shelves are cleared, and what lies there joined with its neighbours, before another slab is made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/arena.h"

namespace ebb {

struct HostPlace {
  std::size_t slab = 0;
  Region region = {};
  bool operator==(const HostPlace&) const = default;
};

struct HostStoreOptions {
  Bytes limit = 0;  // what all slabs together may take; 0 = no limit
  Bytes slab_bytes = 256 * kMiB;
};

class HostStore {
 public:
  Bytes slab_bytes() const { return options_.slab_bytes; }

  // REQUIRES: the backend outlives the store.
  HostStore(Backend& backend, const HostStoreOptions& options) : backend_(backend), options_(options) {}

  // Nothing if the limit, or the machine, has no room for it; `refusal` then says why.
  std::optional<HostPlace> take(Bytes bytes, std::vector<Event>& waits);
  // It may be used again after the event.
  void give(const HostPlace& place, Event freed_by);
  std::byte* address(const HostPlace& place) const;

  // Slabs made elsewhere, because that takes long: how many more bytes of slabs are wanted to have `bytes` in
  // all and are allowed. They count as reserved until they are adopted or given up.
  Bytes promise(Bytes bytes);
  void adopt(std::byte* slab, Bytes bytes);
  void break_promise(Bytes bytes) { reserved_ -= bytes; }

  // Might so many bytes, in pieces, be more than the limit allows?
  bool may_refuse(Bytes bytes) const { return options_.limit > 0 && options_.limit - bytes < bytes / 4; }

  Bytes in_use() const { return in_use_; }
  Bytes high_water() const { return high_water_; }
  Bytes reserved() const { return reserved_; }
  const std::string& refusal() const { return refusal_; }

 private:
  struct Slab {
    std::byte* begin = nullptr;
    Arena arena;
  };
  struct Shelved {
    HostPlace place;
    Event freed_by = kHappened;
  };
  struct Shelf {
    Bytes bytes = 0;
    // The last one given is taken first: who has waited for its event need not wait for those before it.
    std::vector<Shelved> places = {};
  };
  static constexpr std::size_t kMostShelves = 64;

  // nullptr: there is none.
  Shelf* shelf_of(Bytes bytes);
  // false: they were empty.
  bool clear_shelves();
  std::optional<HostPlace> take_shelved(Bytes bytes, std::vector<Event>& waits);
  std::optional<HostPlace> take_best(Bytes bytes, std::vector<Event>& waits);
  std::optional<std::size_t> best_slab(Bytes bytes) const;
  bool add_slab(Bytes bytes);

  Backend& backend_;
  HostStoreOptions options_;
  std::vector<Slab> slabs_;
  std::vector<Shelf> shelves_;
  Bytes in_use_ = 0;
  Bytes high_water_ = 0;
  Bytes reserved_ = 0;
  std::string refusal_;
};

}  // namespace ebb
