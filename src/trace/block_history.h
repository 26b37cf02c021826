// The life of every block of a Trace, and with it the check that the Trace makes sense.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace ebb {

inline constexpr std::uint32_t kNever = ~std::uint32_t{0};

struct BlockHistory {
  Bytes bytes = 0;
  std::uint32_t born = kNever;   // event of its malloc; kNever: no such block
  std::uint32_t born_place = 0;  // which of the event's mallocs and frees
  std::uint32_t freed = kNever;  // event of its free
  std::uint32_t freed_place = 0;
};

// Indexed by block id. Throws InputError naming `place` and the event if a block is malloc'd twice, used or
// freed while it does not exist, if a size or time is negative or too large, or if an id is not below
// kSparseIds + 4 × (mallocs up to it).
inline constexpr std::size_t kSparseIds = std::size_t{1} << 20;
std::vector<BlockHistory> block_histories(const Trace& trace, const std::string& place);

}  // namespace ebb
