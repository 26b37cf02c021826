// What a Device did so far, counted.
#pragma once

#include <cstdint>

#include "trace/quantities.h"

namespace ebb {

struct DeviceStatistics {
  std::int64_t ops = 0;
  Bytes bytes_out = 0;  // device → host
  Bytes bytes_in = 0;
  std::int64_t evictions = 0;          // blocks that left, in whatever way
  std::int64_t clean_evictions = 0;    // of these: the host still held their content
  std::int64_t drops = 0;              // of these: to be computed again
  std::int64_t remakes = 0;            // dropped blocks that came back
  std::int64_t replays = 0;            // ops run again for that
  std::int64_t protected_remakes = 0;  // remakes because what they depend on was about to change or expire
  std::int64_t kept_for_replay = 0;    // freed blocks whose bytes stayed because a dropped block needs them
  std::int64_t abandoned_ops = 0;      // ops stopped for want of memory and run once more
  std::int64_t compactions = 0;
  std::int64_t copy_retries = 0;
  std::int64_t displaced = 0;  // blocks that left because a plan wanted their place
  std::int64_t misplaced = 0;  // planned places that were not to be had
  Bytes arena_in_use = 0;
  Bytes arena_high_water = 0;  // never above the limit
  Bytes host_in_use = 0;
  Bytes host_high_water = 0;
  Bytes host_reserved = 0;          // slabs
  std::int64_t blocks = 0;          // in the block table now, temporaries and kept ones included
  std::int64_t recorded_steps = 0;  // op instances that could be replayed now
  bool operator==(const DeviceStatistics&) const = default;
};

}  // namespace ebb
