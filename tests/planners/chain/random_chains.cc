#include "planners/chain/random_chains.h"

#include <algorithm>

namespace ebb {
namespace {

// One phase by itself, every action as early as possible; backward runs against time.
struct Phase {
  std::vector<Slots> starts, ends;  // of the layers
  std::vector<Slots> sent = {0};    // by time
  Slots wanted = 0;                 // offloaded and there to be sent

  void step() { sent.push_back(std::min(sent.back() + 1, wanted)); }
  Slots time() const { return static_cast<Slots>(sent.size()) - 1; }
  Slots sent_at(Slots time) const {
    if (time < 0) return 0;
    return time < static_cast<Slots>(sent.size()) ? sent[static_cast<std::size_t>(time)] : sent.back();
  }
};

Slots need(const SlotChain& chain, std::size_t i, bool backward) {
  const SlotLayer& layer = chain.layers[i];
  return chain.x(i + 1) +
         (backward ? layer.backward_extra + chain.y(i) + chain.y(i + 1) : layer.forward_extra);
}

std::optional<Phase> run_phase(const SlotChain& chain, const OffloadSet& offloaded, bool backward) {
  Phase phase;
  Slots made = 0;
  for (std::size_t i = 0; i < chain.layers.size(); ++i) {
    const Slots before = phase.wanted;
    made += chain.x(i);
    if (!backward && offloaded[i]) phase.wanted += chain.x(i);
    while (made - std::min(phase.sent.back(), before) + need(chain, i, backward) > chain.memory) {
      if (phase.sent.back() >= before) return std::nullopt;
      phase.step();
    }
    phase.starts.push_back(phase.time());
    const Slots duration = backward ? chain.layers[i].backward : chain.layers[i].forward;
    for (Slots t = 0; t < duration; ++t) phase.step();
    phase.ends.push_back(phase.time());
    if (backward && offloaded[i]) phase.wanted += chain.x(i);
  }
  while (phase.sent.back() < phase.wanted) phase.step();
  return phase;
}

// Forward from time 0, backward up to `makespan`: do they get along?
class Joined {
 public:
  Joined(const SlotChain& chain, const OffloadSet& offloaded, const Phase& forward, const Phase& backward)
      : chain_(chain), forward_(forward), backward_(backward) {
    Slots all = 0;
    for (std::size_t i = 0; i < chain.layers.size(); ++i) {
      kept_.push_back((i == 0 ? 0 : kept_.back()) + (offloaded[i] ? 0 : chain.x(i)));
      all += offloaded[i] ? chain.x(i) : 0;
      gone_.push_back(all);
      own_.push_back(offloaded[i] ? chain.x(i) : 0);
    }
  }

  bool fits(Slots makespan) const {
    if (makespan < forward_.ends.back() + backward_.ends.back()) return false;
    const Slots total = gone_.back();
    if (total > 0 && transfers_overlap(makespan)) return false;
    for (std::size_t i = 0; i < chain_.layers.size(); ++i)
      if (!forward_fits(i, makespan) || !backward_fits(i, makespan)) return false;
    return true;
  }

 private:
  Slots returned(Slots time, Slots makespan) const {  // started to return by `time`
    return gone_.back() - backward_.sent_at(makespan - time);
  }

  // Outs end before ins begin, slot for slot.
  bool transfers_overlap(Slots makespan) const {
    for (Slots t = 0; t < makespan; ++t)
      if (forward_.sent_at(t) < gone_.back() && returned(t + 1, makespan) > 0) return true;
    return false;
  }

  bool forward_fits(std::size_t i, Slots makespan) const {
    const Slots start = forward_.starts[i];
    for (Slots t = start; t <= std::max(start, forward_.ends[i] - 1); ++t) {
      const Slots end = std::min(t + 1, forward_.ends[i]);
      const Slots leaving = gone_[i] - own_[i] - std::min(forward_.sent_at(t), gone_[i] - own_[i]);
      // What comes back while its own layer still holds it takes no second place.
      const Slots back = std::max<Slots>(0, returned(end, makespan) - own_[i]);
      if (kept_[i] + own_[i] + leaving + back + need(chain_, i, false) > chain_.memory) return false;
    }
    return true;
  }

  bool backward_fits(std::size_t i, Slots makespan) const {
    const Slots start = makespan - backward_.ends[i];
    const Slots stop = makespan - backward_.starts[i];
    for (Slots t = start; t <= std::max(start, stop - 1); ++t) {
      const Slots later = gone_.back() - gone_[i];  // had to return before, and has been used
      const Slots here = std::max<Slots>(0, returned(std::min(t + 1, stop), makespan) - later);
      const Slots leaving = std::max<Slots>(0, gone_[i] - forward_.sent_at(t));
      const Slots missing = own_[i] > 0 ? own_[i] - std::min(own_[i], here) : 0;
      if (missing > 0 || kept_[i] + here + leaving + need(chain_, i, true) > chain_.memory) return false;
    }
    return true;
  }

  const SlotChain& chain_;
  const Phase& forward_;
  const Phase& backward_;
  std::vector<Slots> kept_, gone_, own_;  // by layer: of x_0 … x_i the bytes that stay, that leave; of x_i
};

}  // namespace

SlotChain random_slot_chain(Random& random, std::size_t layers) {
  SlotChain chain{.output = random.between<Slots>(0, 6), .output_gradient = random.between<Slots>(0, 4)};
  const Slots largest = random.between<Slots>(2, 12);
  const Slots longest = random.between<Slots>(1, 12);
  for (std::size_t i = 0; i < layers; ++i)
    chain.layers.push_back({.forward = random.between<Slots>(0, longest),
                            .backward = random.between<Slots>(0, longest),
                            .input = random.between<Slots>(0, largest),
                            .gradient = random.chance(50) ? 0 : random.between<Slots>(0, 5),
                            .forward_extra = random.chance(50) ? 0 : random.between<Slots>(-3, 8),
                            .backward_extra = random.chance(50) ? 0 : random.between<Slots>(-3, 8)});
  const Chain bytes = in_bytes(chain);
  const Slots least = bytes.smallest_memory();
  chain.memory = std::max<Slots>(1, random.chance(5) ? least - 1 : random.between(least, bytes.peak()));
  return chain;
}

std::optional<Slots> stepped_makespan(const SlotChain& chain, const OffloadSet& offloaded) {
  const auto forward = run_phase(chain, offloaded, false);
  const auto backward = run_phase(chain, offloaded, true);
  if (!forward || !backward) return std::nullopt;
  const Joined joined(chain, offloaded, *forward, *backward);
  Slots makespan = forward->ends.back() + backward->ends.back();
  while (!joined.fits(makespan)) ++makespan;
  return makespan;
}

Slots compute_slots(const SlotChain& chain) {
  Slots total = 0;
  for (const SlotLayer& layer : chain.layers) total += layer.forward + layer.backward;
  return total;
}

Chain in_bytes(const SlotChain& chain) {
  Chain result{.output = chain.output, .output_gradient = chain.output_gradient, .bandwidth = 1'000'000'000};
  for (const SlotLayer& layer : chain.layers)
    result.layers.push_back({.forward = layer.forward,
                             .backward = layer.backward,
                             .input = layer.input,
                             .gradient = layer.gradient,
                             .forward_extra = layer.forward_extra,
                             .backward_extra = layer.backward_extra});
  return result;
}

}  // namespace ebb
