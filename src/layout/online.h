// Online allocators as baselines: they see malloc and free one by one and know nothing of what comes.
#pragma once

#include <vector>

#include "layout/caching_allocator.h"
#include "layout/problem.h"

namespace ebb::layout {

struct MemoryEvent {
  enum class Kind { kMalloc, kFree };
  Kind kind = Kind::kMalloc;
  int buffer = 0;  // index in Problem::buffers
  bool operator==(const MemoryEvent&) const = default;
};

// The mallocs and frees of one iteration in order of time; at equal times frees come first, and buffers in
// the order of the problem. On a ring, what wraps is alive when the iteration begins: it is allocated first
// of all.
std::vector<MemoryEvent> events_of(const Problem& problem);

// Highest address that cnmem uses: 512-byte granularity, best fit over an address-ordered list, coalescing.
Bytes cnmem_footprint(const Problem& problem);

// Bytes that PyTorch's caching allocator reserves.
Bytes caching_allocator_footprint(const Problem& problem, CachingAllocator::Segments segments);

}  // namespace ebb::layout
