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
  std::optional<Bytes> inside_peak(std::uint64_t signature) {
    const Need* need = find(signature);
    return need ? std::optional(need->peak) : std::nullopt;
  }
  // Did it need the same twice in a row?
  bool is_steady(std::uint64_t signature) {
    const Need* need = find(signature);
    return need && need->times >= kSteady;
  }
  void remember(std::uint64_t signature, Bytes inside_peak) {
    Need* known = find(signature);
    if (!known && needs_.size() >= kMostSignatures) needs_.clear(), last_ = nullptr;
    Need& need = known ? *known : needs_[signature];
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
  // An op is asked about several times in a row.
  Need* find(std::uint64_t signature) {
    if (last_ && last_->first == signature) return &last_->second;
    const auto it = needs_.find(signature);
    if (it == needs_.end()) return nullptr;
    last_ = &*it;
    return &it->second;
  }
  static constexpr int kSteady = 2;
  static constexpr std::size_t kMostSignatures = 65'536;
  std::unordered_map<std::uint64_t, Need> needs_;
  std::pair<const std::uint64_t, Need>* last_ = nullptr;  // found
};

}  // namespace ebb
