#include "planners/chain/chain_schedule.h"

#include <algorithm>

namespace ebb {
namespace {

struct Transfer {
  Nanoseconds end = 0;
  Bytes bytes = 0;
};

// One phase, every action as early as possible. The backward phase is the same thing with time running
// backwards from the end of the step, and an activation that can move only once its layer has run.
class Sweep {
 public:
  Sweep(const Chain& chain, Bytes memory, const OffloadSet& offloaded, bool backward)
      : chain_(chain), memory_(memory), offloaded_(offloaded), backward_(backward) {}

  // False if a layer never gets the memory it needs.
  bool run() {
    Bytes held = 0;  // x_0 … x_i without those that have left
    std::size_t released = 0;
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      held += chain_.x(i);
      const Nanoseconds before = time;
      while (held + need(i) > memory_) {
        if (released == transfers.size()) return false;
        time = std::max(time, transfers[released].end);
        held -= transfers[released++].bytes;
      }
      time += backward_ ? chain_.layers[i].backward : chain_.layers[i].forward;
      ends.push_back(time);
      if (!offloaded_[i]) continue;
      link_free = std::max(link_free, backward_ ? time : before) + chain_.transfer_time(chain_.x(i));
      transfers.push_back({link_free, chain_.x(i)});
    }
    return true;
  }

  Bytes need(std::size_t i) const { return backward_ ? chain_.backward_need(i) : chain_.forward_need(i); }

  // The first time from which at most `room` bytes still wait for their transfer to end.
  Nanoseconds leaves_at_most(Bytes room) const {
    Bytes waiting = 0;
    for (std::size_t k = transfers.size(); k-- > 0;) {
      waiting += transfers[k].bytes;
      if (waiting > room) return transfers[k].end;
    }
    return 0;
  }

  std::vector<Nanoseconds> ends;  // of the layers
  std::vector<Transfer> transfers;
  Nanoseconds time = 0;
  Nanoseconds link_free = 0;

 private:
  const Chain& chain_;
  const Bytes memory_;
  const OffloadSet& offloaded_;
  const bool backward_;
};

}  // namespace

std::optional<Nanoseconds> chain_makespan(const Chain& chain, Bytes memory, const OffloadSet& offloaded) {
  Sweep forward(chain, memory, offloaded, false);
  Sweep backward(chain, memory, offloaded, true);
  if (!forward.run() || !backward.run()) return std::nullopt;
  Nanoseconds makespan =
      std::max(forward.time + backward.time, forward.link_free + backward.link_free);  // outs before ins
  if (forward.transfers.empty()) return makespan;
  // What is still leaving while B_i runs, and what is already returning while F_i runs, has to fit beside it.
  Bytes kept = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (!offloaded[i]) kept += chain.x(i);
    const Bytes own = offloaded[i] ? chain.x(i) : 0;
    makespan =
        std::max({makespan, backward.ends[i] + forward.leaves_at_most(memory - kept - own - backward.need(i)),
                  forward.ends[i] + backward.leaves_at_most(memory - kept - own - forward.need(i))});
  }
  return makespan;
}

bool keeps_memory(const Chain& chain, Bytes memory, const OffloadSet& offloaded) {
  Bytes kept = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (kept + chain.x(i) + std::max(chain.forward_need(i), chain.backward_need(i)) > memory) return false;
    if (!offloaded[i]) kept += chain.x(i);
  }
  return true;
}

OffloadSet greedy_offloads(const Chain& chain, Bytes memory) {
  OffloadSet offloaded(chain.size(), false);
  Bytes missing = chain.peak() - memory;
  for (std::size_t i = 0; i < chain.size() && missing > 0; ++i) {
    offloaded[i] = true;
    missing -= chain.x(i);
  }
  return offloaded;
}

}  // namespace ebb
