// How long each op of an iteration took, over some iterations.
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
    std::array<Nanoseconds, kMost> sorted{};
    std::size_t count = 0;
    for (const std::vector<Nanoseconds>& times : iterations_) {
      const auto i = static_cast<std::size_t>(op);
      if (i >= times.size() || times[i] == kNotTimed) continue;
      std::size_t place = count++;
      for (; place > 0 && sorted[place - 1] > times[i]; --place) sorted[place] = sorted[place - 1];
      sorted[place] = times[i];
    }
    if (count == 0) return std::nullopt;
    return sorted[(count - 1) / 2];
  }

 private:
  std::vector<std::vector<Nanoseconds>> iterations_;
};

}  // namespace ebb
