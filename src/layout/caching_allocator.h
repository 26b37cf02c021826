// A model of PyTorch's CUDA caching allocator: which segments it reserves for a sequence of malloc and free.
// Requests are rounded up to 512 bytes. Those of up to 1 MiB live in segments of 2 MiB; larger ones below
// 10 MiB in segments of 20 MiB; the rest in segments of their own size, rounded up to 2 MiB. The smallest
// free block of the pool that fits is taken and split if the rest is worth it. Segments are never given back.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "layout/problem.h"

namespace ebb::layout {

class CachingAllocator {
 public:
  enum class Segments {
    kFixed,       // the default
    kExpandable,  // expandable_segments:True: one segment per pool that grows at its end
  };

  explicit CachingAllocator(Segments segments = Segments::kFixed) : segments_(segments) {}

  // The address of the block, unique among live ones. REQUIRES: size >= 1.
  Bytes malloc(Bytes size);
  // REQUIRES: `address` came from malloc and was not freed since; throws InputError otherwise.
  void free(Bytes address);

  // Bytes of all segments so far: what nvidia-smi would show.
  Bytes reserved() const { return reserved_; }

 private:
  enum Pool : std::uint8_t { kSmall, kLarge };
  struct Block {
    Bytes size = 0;
    int segment = 0;
    Pool pool = kSmall;
    bool is_free = false;
  };
  using Blocks = std::map<Bytes, Block>;  // by address

  Blocks::iterator take_free(Pool pool, Bytes size);
  Blocks::iterator new_segment(Pool pool, Bytes size);
  Blocks::iterator grow(Pool pool, Bytes size);
  bool is_split(Pool pool, Bytes rest) const;
  void set_free(Blocks::iterator block);
  void unset_free(Blocks::iterator block);

  Segments segments_;
  Blocks blocks_;
  std::array<std::set<std::pair<Bytes, Bytes>>, 2> free_;  // per pool: (size, address)
  std::array<Bytes, 2> grown_{};                           // per pool: bytes of its expandable segment
  int segment_count_ = 0;
  Bytes next_address_ = 0;
  Bytes reserved_ = 0;
};

}  // namespace ebb::layout
