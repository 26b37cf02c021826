#include "planners/chain/slots.h"

#include <algorithm>

#include "planners/chain/chain_schedule.h"

namespace ebb {
namespace {

using Wide = __int128;

constexpr Wide kSecond = 1'000'000'000;

Slots floor_of(Wide value, Wide unit) {
  return static_cast<Slots>(value >= 0 ? value / unit : -((-value + unit - 1) / unit));
}
Slots ceiling_of(Wide value, Wide unit) { return -floor_of(-value, unit); }

// The activation that falls short of its bytes by the least is rounded up. False if none falls short.
bool round_one_up(const Chain& chain, Bytes memory, SlotChain& slotted) {
  Wide least = 0;
  Slots* closest = nullptr;
  for (std::size_t i = 0; i <= chain.size(); ++i) {
    Slots& have = i < chain.size() ? slotted.layers[i].input : slotted.output;
    const Wide missing = Wide{chain.x(i)} * slotted.memory - Wide{have} * memory;
    if (missing <= 0 || (closest != nullptr && missing >= least)) continue;
    least = missing;
    closest = &have;
  }
  if (closest == nullptr) return false;
  ++*closest;
  return true;
}

}  // namespace

SlotChain in_slots(const Chain& chain, Bytes memory, Slots slots) {
  const auto sizes = [&](Bytes bytes) { return ceiling_of(Wide{bytes} * slots, memory); };
  const auto hidden = [&](Nanoseconds time) {  // u · β in slots
    return floor_of(Wide{time} * chain.bandwidth / kSecond * slots, memory);
  };
  SlotChain slotted{.output_gradient = sizes(chain.output_gradient), .memory = slots};
  Bytes inputs = 0;
  Nanoseconds forward = 0;
  Nanoseconds backward = 0;
  for (const ChainLayer& layer : chain.layers) {
    slotted.layers.push_back({.forward = hidden(forward + layer.forward) - hidden(forward),
                              .backward = hidden(backward + layer.backward) - hidden(backward),
                              .input = sizes(inputs + layer.input) - sizes(inputs),
                              .gradient = sizes(layer.gradient),
                              .forward_extra = sizes(layer.forward_extra),
                              .backward_extra = sizes(layer.backward_extra)});
    inputs += layer.input;
    forward += layer.forward;
    backward += layer.backward;
  }
  slotted.output = sizes(inputs + chain.output) - sizes(inputs);
  return slotted;
}

std::optional<ChainSolution> solve_in_slots(const Chain& chain, Bytes memory, Slots slots) {
  SlotChain slotted = in_slots(chain, memory, slots);
  ChainSolution result;
  while (const auto found = least_idle(slotted)) {
    ++result.rounds;
    if (keeps_memory(chain, memory, found->offloaded)) {
      result.offloaded = found->offloaded;
      const Bytes idle = static_cast<Bytes>(Wide{found->idle} * memory / slots);
      result.bound = chain.compute_time() + chain.transfer_time(idle);
      return result;
    }
    if (!round_one_up(chain, memory, slotted)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace ebb
