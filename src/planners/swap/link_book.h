// Which times of a repeating step a link is already promised for.
#pragma once

#include <optional>
#include <set>
#include <utility>

#include "trace/quantities.h"

namespace ebb {

class LinkBook {
 public:
  explicit LinkBook(Nanoseconds step) : step_(step) {}

  // The first start in [begin, end - length] at which the link is free for `length`; the last one.
  // Times are within two steps from 0.
  std::optional<Nanoseconds> first_free(Nanoseconds begin, Nanoseconds end, Nanoseconds length) const;
  std::optional<Nanoseconds> last_free(Nanoseconds begin, Nanoseconds end, Nanoseconds length) const;
  void promise(Nanoseconds start, Nanoseconds length);

 private:
  Nanoseconds step_;
  // (end, start) of disjoint times, each also one step earlier and later.
  std::set<std::pair<Nanoseconds, Nanoseconds>> busy_;
};

}  // namespace ebb
