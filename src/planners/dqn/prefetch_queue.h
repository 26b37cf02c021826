// How long backward waits for what was offloaded ([DQN] §4.5–4.6): copies back run one after the other, in
// the order of need, each from where its bytes fit until then.
#pragma once

#include <vector>

#include "trace/quantities.h"

namespace ebb::dqn {

class PrefetchQueue {
 public:
  void clear();
  // A copy that may start at `from`, takes `copy` and is needed at `due`, times of a plain step. Returns how
  // much longer the step waits in all because of it; never negative.
  Nanoseconds add(Nanoseconds from, Nanoseconds due, Nanoseconds copy);
  Nanoseconds waiting() const { return waiting_; }

 private:
  struct Copy {
    Nanoseconds from = 0, due = 0, copy = 0;
  };
  std::vector<Copy> copies_;  // ascending by `due`
  Nanoseconds waiting_ = 0;
};

}  // namespace ebb::dqn
