// A set of few elements: a sorted list, which keeps its memory when it is cleared.
#pragma once

#include "runtime/few.h"

namespace ebb {

template <typename T, std::size_t kInside>
class FlatSet {
 public:
  void insert(const T& value) {
    const auto at = std::lower_bound(values_.begin(), values_.end(), value);
    if (at == values_.end() || *at != value) values_.insert(at, value);
  }
  void erase(const T& value) {
    const auto at = std::lower_bound(values_.begin(), values_.end(), value);
    if (at != values_.end() && *at == value) values_.erase(at);
  }
  void clear() { values_.clear(); }
  bool empty() const { return values_.empty(); }
  // In order; void after a change.
  std::span<const T> values() const { return {values_.begin(), values_.end()}; }

 private:
  Few<T, kInside> values_;
};

}  // namespace ebb
