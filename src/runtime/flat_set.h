// A set of few elements: a sorted vector, which keeps its memory when it is cleared.
#pragma once

#include <algorithm>
#include <vector>

namespace ebb {

template <typename T>
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
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::vector<T> values_;
};

}  // namespace ebb
