// A packing problem: buffers with lifetimes and sizes that must share one address space.
//
//   address
//     ^   +------+
//     |   |  b   |  size          two buffers that are alive together
//     |   +------+----+           must not overlap in address
//     |   |     a     |
//     +---+-----------+---> time
//        begin        end (half-open)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/quantities.h"

namespace ebb::layout {

using BufferId = std::int64_t;
using Time = std::int64_t;

inline constexpr Bytes kDefaultAlignment = 512;

// One residency. `fixed` is an offset that was decided before and must be kept.
struct Buffer {
  BufferId id = 0;
  Time begin = 0;
  Time end = 0;
  Bytes size = 0;
  std::optional<Bytes> fixed = {};
  bool operator==(const Buffer&) const = default;
};

// With a `period`, time is a ring: begin is in [0, period), and a buffer whose end exceeds the period wraps
// around and is still one rectangle with one offset. end - begin == period means alive all the time.
struct Problem {
  std::vector<Buffer> buffers;
  std::optional<Time> period = {};
  bool operator==(const Problem&) const = default;
};

// Throws InputError, naming the buffer, for: a size below 1, an empty or inverted lifetime, a lifetime
// outside the period, a duplicate id, a fixed offset that is negative or unaligned, fixed buffers that
// overlap, an alignment below 1, and sizes whose sum overflows 64 bits once rounded up to the alignment.
void check(const Problem& problem, Bytes alignment = kDefaultAlignment);

// Rounded up to a multiple of `alignment`. REQUIRES: size >= 0, alignment >= 1, no overflow (see check).
Bytes round_up(Bytes size, Bytes alignment);

// The most bytes alive at one time, sizes rounded up to `alignment`: no layout can be lower.
// REQUIRES: check(problem, alignment) passes.
Bytes peak_load(const Problem& problem, Bytes alignment = kDefaultAlignment);

// True if some moment belongs to both lifetimes, around the ring where there is a period.
bool overlap_in_time(const Buffer& a, const Buffer& b, std::optional<Time> period);

}  // namespace ebb::layout
