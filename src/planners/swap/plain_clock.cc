#include "planners/swap/plain_clock.h"

#include <algorithm>

namespace ebb {

PlainClock::PlainClock(const Program& program, const Machine& machine) {
  Nanoseconds now = 0;
  for (const Op& op : program.ops()) {
    now = std::max(now, op.issue);
    starts_.push_back(now);
    now += machine.least_time(op);
    ends_.push_back(now);
  }
}

}  // namespace ebb
