// What ops needed inside when they ran, so that room can be made before they run again. An op that needs less
// than before is believed bit by bit: the next time it may need as much again.
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "runtime/op_frame.h"

namespace ebb {

class OpHistory {
 public:
  // Nothing for an op that never ran.
  std::optional<Bytes> inside_peak(std::uint64_t signature) const {
    const auto it = needs_.find(signature);
    return it == needs_.end() ? std::nullopt : std::optional(it->second.peak);
  }
  // Did it need the same twice in a row?
  bool is_steady(std::uint64_t signature) const {
    const auto it = needs_.find(signature);
    return it != needs_.end() && it->second.times >= kSteady;
  }
  void remember(std::uint64_t signature, Bytes inside_peak) {
    if (needs_.size() >= kMostSignatures) needs_.clear();
    Need& need = needs_[signature];
    need.times = need.last == inside_peak ? std::min(need.times + 1, kSteady) : 1;
    need.last = inside_peak;
    need.peak = std::max(inside_peak, need.peak - need.peak / 8);
  }

 private:
  struct Need {
    Bytes peak = 0;
    Bytes last = -1;
    int times = 0;
  };
  static constexpr int kSteady = 2;
  static constexpr std::size_t kMostSignatures = 65'536;
  std::unordered_map<std::uint64_t, Need> needs_;
};

}  // namespace ebb
