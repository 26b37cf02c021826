// What ops needed inside the last time they ran, so that room can be made before they run again.
#pragma once

#include <optional>
#include <unordered_map>

#include "runtime/op_frame.h"

namespace ebb {

class OpHistory {
 public:
  // Nothing for an op that never ran.
  std::optional<Bytes> inside_peak(std::uint64_t signature) const {
    const auto it = inside_peak_.find(signature);
    return it == inside_peak_.end() ? std::nullopt : std::optional(it->second);
  }
  void remember(std::uint64_t signature, Bytes inside_peak) {
    if (inside_peak_.size() >= kMostSignatures) inside_peak_.clear();
    inside_peak_[signature] = inside_peak;
  }

 private:
  static constexpr std::size_t kMostSignatures = 65'536;
  std::unordered_map<std::uint64_t, Bytes> inside_peak_;
};

}  // namespace ebb
