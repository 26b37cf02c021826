// When each op runs with nothing moved: the clock that rules for swapping reason with before anything is
// simulated.
#pragma once

#include <vector>

#include "machine/machine.h"
#include "plan/gaps.h"

namespace ebb {

class PlainClock {
 public:
  PlainClock(const Program& program, const Machine& machine);

  // Of an op, unrolled: op n + i is op i one step later, op i - n one step earlier.
  Nanoseconds start(OpIndex op) const { return at(starts_, op); }
  Nanoseconds end(OpIndex op) const { return at(ends_, op); }
  Nanoseconds step() const { return ends_.back(); }
  // From the end of the gap's first access to the start of its second, or to the end of the op before its
  // block's memory is free anyway.
  Nanoseconds idle(const Gap& gap) const {
    return (gap.kind == GapKind::trailing ? end(gap.to - 1) : start(gap.to)) - end(gap.from);
  }

 private:
  Nanoseconds at(const std::vector<Nanoseconds>& times, OpIndex op) const {
    const auto n = static_cast<OpIndex>(times.size());
    const OpIndex steps = (op >= 0 ? op : op - n + 1) / n;
    return times[static_cast<std::size_t>(op - steps * n)] + steps * step();
  }

  std::vector<Nanoseconds> starts_, ends_;
};

}  // namespace ebb
