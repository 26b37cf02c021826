// Repetitions in a sequence of numbers. Everything here is linear in what it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ebb {

// values[i] == values[i + period] for all i in [begin, end - period).
struct PeriodicRun {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t period = 1;
  std::size_t length() const { return end - begin; }
  bool operator==(const PeriodicRun&) const = default;
};

// For each period, the longest run that ends where the values end, if it holds `repeats` full periods.
// Longest first, and of equally long ones the smallest period first; only the first `most` of them.
std::vector<PeriodicRun> runs_at_end(std::span<const std::uint64_t> values, std::size_t repeats,
                                     std::size_t most);

// The run continued to the right as far as it goes.
PeriodicRun extend_right(std::span<const std::uint64_t> values, PeriodicRun run);

// Is `pattern` a part of cycle·cycle·cycle…?
bool occurs_in_cycle(std::span<const std::uint64_t> pattern, std::span<const std::uint64_t> cycle);

// How much of `values` is made of whole turns of the cycle, each beginning anywhere in it. By hashing: a
// guess that is as good as certain.
struct CycleCover {
  std::size_t covered = 0;
  bool reaches_end = false;  // the values end with a whole turn
};
CycleCover cover_by_cycle(std::span<const std::uint64_t> values, std::span<const std::uint64_t> cycle);

}  // namespace ebb
