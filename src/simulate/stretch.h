// Integer arithmetic of tasks that slow each other down (docs/notes/simulation.md, Engines).
#pragma once

#include <algorithm>
#include <limits>

#include "trace/quantities.h"

namespace ebb {

inline constexpr std::int64_t kUnstretched = 1'000'000;
inline constexpr Nanoseconds kEndOfTime = std::numeric_limits<Nanoseconds>::max();

// Time that `work` nominal nanoseconds take, rounded up.
inline Nanoseconds stretched(Nanoseconds work, std::int64_t stretch) {
  if (stretch == kUnstretched) return work;
  if (work < Nanoseconds{1} << 40) return (work * stretch + kUnstretched - 1) / kUnstretched;
  return static_cast<Nanoseconds>((static_cast<__int128>(work) * stretch + kUnstretched - 1) / kUnstretched);
}

// Nominal nanoseconds done in `elapsed`, rounded down.
inline Nanoseconds work_done(Nanoseconds elapsed, std::int64_t stretch) {
  if (stretch == kUnstretched) return elapsed;
  if (elapsed < Nanoseconds{1} << 40) return elapsed * kUnstretched / stretch;
  return static_cast<Nanoseconds>(static_cast<__int128>(elapsed) * kUnstretched / stretch);
}

// A running task on one engine.
struct Task {
  bool active = false;
  Nanoseconds work = 0;  // nominal nanoseconds left at `since`
  Nanoseconds since = 0;
  Nanoseconds end = 0;
  std::int64_t stretch = kUnstretched;

  void start(Nanoseconds now, Nanoseconds nominal, std::int64_t s) {
    active = true;
    work = nominal;
    since = now;
    stretch = s;
    end = now + stretched(nominal, s);
  }
  Nanoseconds left(Nanoseconds now) const {
    return active ? std::max<Nanoseconds>(0, work - work_done(now - since, stretch)) : 0;
  }
  void change(Nanoseconds now, std::int64_t s) {
    if (!active || stretch == s) return;
    work = left(now);
    since = now;
    stretch = s;
    end = now + stretched(work, s);
  }
};

}  // namespace ebb
