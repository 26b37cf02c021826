// What happened when, in one iteration. Times are relative to the iteration's start.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/quantities.h"

namespace ebb {

enum class Lane : char { compute, out, in };
enum class StallCause : char { issue, sync, copy_in, room };
inline constexpr std::size_t kStallCauses = 4;

struct Span {
  Lane lane = Lane::compute;
  bool replay = false;  // compute: an op run again
  OpIndex op = kNoOp;   // compute
  GapId gap = -1;       // out, in
  Nanoseconds start = 0;
  Nanoseconds end = 0;  // may lie in the next iteration for copies
  bool operator==(const Span&) const = default;
};

// Compute waited. `op` is the position that waited.
struct Stall {
  StallCause cause = StallCause::room;
  OpIndex op = 0;
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  bool operator==(const Stall&) const = default;
};

// Occupancy (unmanaged included) from `time` on.
struct LoadPoint {
  Nanoseconds time = 0;
  Bytes bytes = 0;
  bool operator==(const LoadPoint&) const = default;
};

struct Timeline {
  std::vector<Span> spans;  // in order of start
  std::vector<Stall> stalls;
  std::vector<LoadPoint> load;  // one point per time at which it changed
  bool operator==(const Timeline&) const = default;
};

}  // namespace ebb
