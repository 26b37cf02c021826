// [OFF] Algorithm 1: which activations to offload so that a chain idles least, if transfers may be
// interrupted. Exact, over integers: everything is counted in slots of memory, and time in the slots that the
// link moves in it. See docs/notes/chain.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planners/chain/chain.h"

namespace ebb {

using Slots = std::int64_t;

struct SlotLayer {
  Slots forward = 0;  // u_F · β
  Slots backward = 0;
  Slots input = 0;
  Slots gradient = 0;
  Slots forward_extra = 0;
  Slots backward_extra = 0;
  bool operator==(const SlotLayer&) const = default;
};

struct SlotChain {
  std::vector<SlotLayer> layers = {};
  Slots output = 0;
  Slots output_gradient = 0;
  Slots memory = 0;

  Slots x(std::size_t i) const { return i < layers.size() ? layers[i].input : output; }
  Slots y(std::size_t i) const { return i < layers.size() ? layers[i].gradient : output_gradient; }
  bool operator==(const SlotChain&) const = default;
};

struct SlotSolution {
  OffloadSet offloaded = {};
  Slots idle = 0;  // makespan = compute time + this
};

// Nothing if no set keeps the memory.
std::optional<SlotSolution> least_idle(const SlotChain& chain);

}  // namespace ebb
