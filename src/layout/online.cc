#include "layout/online.h"

#include <algorithm>
#include <tuple>

#include "layout/pool.h"

namespace ebb::layout {
namespace {

// Calls malloc(size) → address and free(address) for each event.
template <typename Malloc, typename Free>
void replay(const Problem& problem, Malloc&& malloc, Free&& free) {
  std::vector<Bytes> address(problem.buffers.size());
  for (const MemoryEvent& event : events_of(problem)) {
    if (event.kind == MemoryEvent::Kind::kMalloc) {
      address[event.buffer] = malloc(problem.buffers[event.buffer].size);
    } else {
      free(address[event.buffer]);
    }
  }
}

}  // namespace

std::vector<MemoryEvent> events_of(const Problem& problem) {
  using Kind = MemoryEvent::Kind;
  struct Timed {
    Time time;
    MemoryEvent event;
  };
  std::vector<MemoryEvent> events;
  std::vector<Timed> timed;
  for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const bool wraps = problem.period && buffer.end > *problem.period;
    if (wraps) events.push_back({Kind::kMalloc, i});
    if (wraps && buffer.end - buffer.begin == *problem.period) continue;
    timed.push_back({buffer.begin, {Kind::kMalloc, i}});
    timed.push_back({wraps ? buffer.end - *problem.period : buffer.end, {Kind::kFree, i}});
  }
  std::stable_sort(timed.begin(), timed.end(), [](const Timed& a, const Timed& b) {
    return std::tuple(a.time, a.event.kind == Kind::kMalloc) <
           std::tuple(b.time, b.event.kind == Kind::kMalloc);
  });
  for (const Timed& entry : timed) events.push_back(entry.event);
  return events;
}

Bytes cnmem_footprint(const Problem& problem) {
  BestFitPool pool;
  replay(
      problem, [&](Bytes size) { return pool.malloc(size).value(); },
      [&](Bytes address) { pool.free(address); });
  return pool.footprint();
}

Bytes caching_allocator_footprint(const Problem& problem, CachingAllocator::Segments segments) {
  CachingAllocator allocator(segments);
  replay(
      problem, [&](Bytes size) { return allocator.malloc(size); },
      [&](Bytes address) { allocator.free(address); });
  return allocator.reserved();
}

}  // namespace ebb::layout
