// The quantities every layer counts in. All are signed so that differences are exact.
#pragma once

#include <cstdint>

namespace ebb {

using Bytes = std::int64_t;
using Nanoseconds = std::int64_t;

// Index of an op in its Program. Positions may be *unrolled*: op i of the next iteration is n + i.
using OpIndex = std::int32_t;
using BlockId = std::int32_t;
using GapId = std::int32_t;
using VersionId = std::int32_t;

inline constexpr OpIndex kNoOp = -1;
inline constexpr Bytes kKiB = Bytes{1} << 10;
inline constexpr Bytes kMiB = Bytes{1} << 20;
inline constexpr Bytes kGiB = Bytes{1} << 30;

// Half-open range of positions.
struct OpRange {
  OpIndex begin = 0;
  OpIndex end = 0;
  bool operator==(const OpRange&) const = default;
};

}  // namespace ebb
