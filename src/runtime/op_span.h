// The events around an op that was timed, and what of the time between them is the host's: if the device had
// nothing left to do when the first one was recorded, it waits for as long as the host takes to issue the op.
#pragma once

#include <algorithm>

#include "backend/backend.h"

namespace ebb {

struct OpSpan {
  Event start = kHappened;
  Event end = kHappened;  // kHappened: it was not timed
  Nanoseconds host = 0;

  // Without the host's. Throws BackendError if that cannot be said any more.
  Nanoseconds device_time(Backend& backend) const {
    constexpr Nanoseconds kLeast = 1'000;  // what anything takes on a device that was waited for
    const Nanoseconds all = backend.elapsed(start, end);
    return host > 0 ? std::max(all - host, std::min(all, kLeast)) : all;
  }
};

}  // namespace ebb
