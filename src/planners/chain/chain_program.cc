#include "planners/chain/chain_program.h"

#include <algorithm>
#include <limits>

namespace ebb {
namespace {

Slots positive(Slots value) { return std::max<Slots>(0, value); }

// After some layers: what a schedule has come to. Only its bytes and its lead or lag on the link matter.
struct State {
  Slots kept = 0;     // of the layers so far
  Slots out_lag = 0;  // Δ_F: still to leave; negative: the link has idled for as long
  Slots in_lag = 0;   // Δ_B: returned ahead of need; negative: likewise
  Slots idle = 0;
  std::int32_t parent = -1;  // in the states of the layer before
  bool offloads = false;     // the last decision
};

// Waiting turns idle time into progress on either link, so a state that is behind by less than it has
// waited less is at least as good.
bool at_least_as_good(const State& a, const State& b) {
  return a.kept <= b.kept &&
         a.idle + positive(a.out_lag - b.out_lag) + positive(a.in_lag - b.in_lag) <= b.idle;
}

class IdleSearch {
 public:
  explicit IdleSearch(const SlotChain& chain)
      : chain_(chain), by_kept_(static_cast<std::size_t>(positive(chain.memory)) + 1) {}

  std::optional<SlotSolution> solve() {
    layers_.push_back({State{}});
    for (std::size_t i = 0; i < chain_.layers.size(); ++i) {
      for (std::size_t s = 0; s < layers_[i].size(); ++s) extend(i, static_cast<std::int32_t>(s));
      layers_.push_back(take_front());
      if (layers_.back().empty()) return std::nullopt;
    }
    return backtrack();
  }

 private:
  void extend(std::size_t i, std::int32_t parent) {
    const State& from = layers_[i][static_cast<std::size_t>(parent)];
    const SlotLayer& layer = chain_.layers[i];
    const Slots there = from.kept + layer.input + chain_.x(i + 1);
    const Slots out_need = there + layer.forward_extra;
    const Slots in_need = there + layer.backward_extra + layer.gradient + chain_.y(i + 1);
    if (out_need > chain_.memory || in_need > chain_.memory) return;
    const Slots out_wait = positive(out_need + positive(from.out_lag) - chain_.memory);  // ε_F
    const Slots in_wait = positive(in_need + positive(from.in_lag) - chain_.memory);     // ε_B
    const Slots out_time = out_wait + layer.forward;
    const Slots in_time = in_wait + layer.backward;
    const Slots idle = from.idle + out_wait + in_wait;
    insert({.kept = from.kept,
            .out_lag = positive(from.out_lag) + layer.input - out_time,
            .in_lag = layer.input + positive(from.in_lag - in_time),
            .idle = idle,
            .parent = parent,
            .offloads = true});
    insert({.kept = from.kept + layer.input,
            .out_lag = from.out_lag - out_time,
            .in_lag = from.in_lag - in_time,
            .idle = idle,
            .parent = parent,
            .offloads = false});
  }

  void insert(State state) {
    if (state.kept > chain_.memory) return;
    // A link that has idled for longer than the whole memory takes has no use for more.
    state.out_lag = std::max(state.out_lag, -chain_.memory);
    state.in_lag = std::max(state.in_lag, -chain_.memory);
    std::vector<State>& front = by_kept_[static_cast<std::size_t>(state.kept)];
    for (const State& other : front)
      if (at_least_as_good(other, state)) return;
    std::erase_if(front, [&](const State& other) { return at_least_as_good(state, other); });
    front.push_back(state);
  }

  std::vector<State> take_front() {
    std::vector<State> states;
    for (std::vector<State>& front : by_kept_) {
      states.insert(states.end(), front.begin(), front.end());
      front.clear();
    }
    return states;
  }

  // ε_G: the wait between F_L and B_L. An op that runs while the other phase's transfers are under way needs
  // enough of them done; which op needs most does not depend on the state.
  Slots turn(const State& state) const {
    const Slots there = chain_.output + state.kept - chain_.memory;
    if (state.out_lag > 0 && state.in_lag > 0) return state.out_lag + state.in_lag;
    if (state.out_lag > 0)
      return std::max({Slots{0}, state.out_lag + state.in_lag, backward_need_ + there + state.out_lag});
    if (state.in_lag > 0)
      return std::max({Slots{0}, state.out_lag + state.in_lag, forward_need_ + there + state.in_lag});
    return 0;
  }

  void find_needs_at_turn() {
    Slots later = 0;  // Σ |x_i| for i > j + 1
    Slots forward_time = 0;
    Slots backward_time = 0;
    forward_need_ = backward_need_ = std::numeric_limits<Slots>::min() / 4;
    for (std::size_t j = chain_.layers.size(); j-- > 0;) {
      const SlotLayer& layer = chain_.layers[j];
      forward_need_ = std::max(forward_need_, layer.forward_extra - later - forward_time);
      backward_need_ = std::max(
          backward_need_, layer.backward_extra + layer.gradient + chain_.y(j + 1) - later - backward_time);
      later += chain_.x(j + 1);
      forward_time += layer.forward;
      backward_time += layer.backward;
    }
  }

  SlotSolution backtrack() {
    find_needs_at_turn();
    const std::vector<State>& last = layers_.back();
    SlotSolution best{.offloaded = OffloadSet(chain_.layers.size(), false),
                      .idle = std::numeric_limits<Slots>::max()};
    std::size_t at = 0;
    for (std::size_t s = 0; s < last.size(); ++s) {
      const Slots idle = last[s].idle + turn(last[s]);
      const bool moves_less = last[s].kept > last[at].kept;
      if (idle > best.idle || (idle == best.idle && !moves_less)) continue;
      best.idle = idle;
      at = s;
    }
    for (std::size_t i = chain_.layers.size(); i > 0; --i) {
      const State& state = layers_[i][at];
      best.offloaded[i - 1] = state.offloads;
      at = static_cast<std::size_t>(state.parent);
    }
    return best;
  }

  const SlotChain& chain_;
  std::vector<std::vector<State>> by_kept_;
  std::vector<std::vector<State>> layers_;
  Slots forward_need_ = 0;
  Slots backward_need_ = 0;
};

}  // namespace

std::optional<SlotSolution> least_idle(const SlotChain& chain) { return IdleSearch(chain).solve(); }

}  // namespace ebb
