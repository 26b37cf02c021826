// Small random programs, machines, plans and limits for property tests. Same seed, same case.
#pragma once

#include <cstdint>
#include <random>

#include "machine/machine.h"
#include "plan/plan.h"

namespace ebb {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15u + 1) {}
  // Uniform in [low, high], both included. REQUIRES: low <= high.
  template <typename T>
  T between(T low, T high) {
    return static_cast<T>(low + static_cast<T>(engine_() % static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(int percent) { return between(0, 99) < percent; }

 private:
  std::mt19937_64 engine_;
};

// 2 to 14 ops with local, persistent and wrapping blocks of 1 to 40 bytes; in-place writes, side effects,
// workspaces, multi-output ops, zero durations, issue times, non-replayable and random ops.
Program random_program(Random& random);

// Links of about a byte per nanosecond; latency, cap, exclusive, stretches, host limit and compute scale now
// and then.
Machine random_machine(Random& random);

// A random action per gap, mostly legal; explicit timing, orders and stays now and then.
Plan random_plan(Random& random, const Program& program, const Gaps& gaps);

// Between what the largest single op needs and the peak demand.
Bytes random_limit(Random& random, const Program& program);
Bytes smallest_limit(const Program& program);

}  // namespace ebb
