#include "planners/swap/link_book.h"

namespace ebb {

std::optional<Nanoseconds> LinkBook::first_free(Nanoseconds begin, Nanoseconds end,
                                                Nanoseconds length) const {
  Nanoseconds start = begin;
  for (auto busy = busy_.upper_bound({begin, step_ * 4}); start + length <= end; ++busy) {
    if (busy == busy_.end() || start + length <= busy->second) return start;
    start = busy->first;
  }
  return std::nullopt;
}

std::optional<Nanoseconds> LinkBook::last_free(Nanoseconds begin, Nanoseconds end, Nanoseconds length) const {
  Nanoseconds stop = end;
  auto busy = busy_.upper_bound({end, step_ * 4});
  if (busy != busy_.end() && busy->second < stop) stop = busy->second;
  while (stop - length >= begin) {
    if (busy == busy_.begin()) return stop - length;
    --busy;
    if (busy->first <= stop - length) return stop - length;
    stop = busy->second;
  }
  return std::nullopt;
}

void LinkBook::promise(Nanoseconds start, Nanoseconds length) {
  if (length == 0) return;
  const Nanoseconds first = start % step_ - step_;
  for (int k = 0; k < 4; ++k) busy_.insert({first + k * step_ + length, first + k * step_});
}

}  // namespace ebb
