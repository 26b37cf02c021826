#include "planners/dqn/prefetch_queue.h"

#include <algorithm>

namespace ebb::dqn {

void PrefetchQueue::clear() {
  copies_.clear();
  waiting_ = 0;
}

Nanoseconds PrefetchQueue::add(Nanoseconds from, Nanoseconds due, Nanoseconds copy) {
  const auto place = std::upper_bound(copies_.begin(), copies_.end(), due,
                                      [](Nanoseconds time, const Copy& other) { return time < other.due; });
  copies_.insert(place, {from, due, copy});
  Nanoseconds free = 0, late = 0;
  for (const Copy& next : copies_) {
    free = std::max(free, next.from + late) + next.copy;
    late += std::max<Nanoseconds>(0, free - (next.due + late));
  }
  const Nanoseconds more = late - waiting_;
  waiting_ = late;
  return std::max<Nanoseconds>(more, 0);
}

}  // namespace ebb::dqn
