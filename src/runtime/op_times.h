// How long each op of an iteration took, the device or the host, over some iterations.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "trace/quantities.h"

namespace ebb {

class OpTimes {
 public:
  static constexpr std::size_t kMost = 3;  // iterations; the first ones are kept
  static constexpr Nanoseconds kNotTimed = -1;

  // Of one iteration, by op.
  void add(std::vector<Nanoseconds> times) {
    if (iterations_.size() < kMost) iterations_.push_back(std::move(times));
  }
  void clear() { iterations_.clear(); }
  bool enough() const { return iterations_.size() == kMost; }

  // The median of the iterations in which the op was timed; nothing: in none.
  std::optional<Nanoseconds> median(OpIndex op) const {
    const auto [sorted, count] = times_of(op);
    return count > 0 ? std::optional(sorted[(count - 1) / 2]) : std::nullopt;
  }
  // The same of the shortest: what else happens on a host makes it longer, never shorter.
  std::optional<Nanoseconds> least(OpIndex op) const {
    const auto [sorted, count] = times_of(op);
    return count > 0 ? std::optional(sorted[0]) : std::nullopt;
  }

 private:
  // In order, and how many they are.
  std::pair<std::array<Nanoseconds, kMost>, std::size_t> times_of(OpIndex op) const {
    std::array<Nanoseconds, kMost> sorted{};
    std::size_t count = 0;
    for (const std::vector<Nanoseconds>& times : iterations_) {
      const auto i = static_cast<std::size_t>(op);
      if (i >= times.size() || times[i] == kNotTimed) continue;
      std::size_t place = count++;
      for (; place > 0 && sorted[place - 1] > times[i]; --place) sorted[place] = sorted[place - 1];
      sorted[place] = times[i];
    }
    return {sorted, count};
  }

  std::vector<std::vector<Nanoseconds>> iterations_;
};

}  // namespace ebb
