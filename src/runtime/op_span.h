// An op that was timed: the events around it, what of the time between them is their own, and what it took
// the host.
#pragma once

#include <algorithm>

#include "backend/backend.h"

namespace ebb {

struct OpSpan {
  Event start = kHappened;
  Event end = kHappened;      // kHappened: it was not timed
  Nanoseconds of_events = 0;  // between two with nothing in between
  Nanoseconds host = -1;      // from the op before to this one, without the Device's own; -1: not known

  // Of the op alone. Throws BackendError if that cannot be said any more.
  Nanoseconds op_time(Backend& backend) const {
    return std::max<Nanoseconds>(backend.elapsed(start, end) - of_events, 0);
  }
};

}  // namespace ebb
