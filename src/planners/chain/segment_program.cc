#include "planners/chain/segment_program.h"

#include <algorithm>
#include <limits>

namespace ebb {
namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max() / 4;

}  // namespace

SegmentProgram::SegmentProgram(const SegmentChain& chain, Slots memory, bool may_rerun)
    : chain_(chain),
      memory_(memory),
      may_rerun_(may_rerun),
      width_(static_cast<std::size_t>(memory) + 1),
      table_(chain.size() * chain.size() * width_) {
  rerun_before_.push_back(0);
  for (const SegmentStage& stage : chain.stages) rerun_before_.push_back(rerun_before_.back() + stage.rerun);
  if (!may_rerun) return;
  for (std::size_t t = 0; t + 1 < chain.size(); ++t)
    for (std::size_t s = t + 1; s-- > 0;) solve(s, t);
}

void SegmentProgram::set_link_price(std::optional<double> price) {
  price_ = price;
  const std::size_t last = chain_.size() - 1;
  for (std::size_t s = last + 1; s-- > 0;) solve(s, last);
}

Nanoseconds SegmentProgram::price_of(Nanoseconds copies) const {
  return static_cast<Nanoseconds>(*price_ * static_cast<double>(copies));
}

void SegmentProgram::solve(std::size_t s, std::size_t t) {
  std::fill(at(s, t), at(s, t) + width_, Entry{.cost = kNever});
  offer_stores(s, t);
  if (may_rerun_) offer_cuts(s, t);
}

void SegmentProgram::offer_stores(std::size_t s, std::size_t t) {
  const SegmentStage& stage = chain_.stages[s];
  const Slots forward = is_again(t) ? stage.store_again + chain_.stages[t].beside : stage.store_first;
  const Slots need = std::max(forward + stage.dead_input, stage.backward);
  Entry* const entries = at(s, t);
  for (std::size_t k = 0; k < stage.options.size(); ++k) {
    const StoreOption& option = stage.options[k];
    if (option.copies > 0 && (is_again(t) || !price_)) continue;
    if (option.rerun > 0 && !may_rerun_) continue;
    const Nanoseconds own = option.rerun + (option.copies > 0 ? price_of(option.copies) : 0);
    const Choice choice{.option = static_cast<std::int16_t>(k), .moved = option.copies > 0};
    for (Slots m = std::max(need, s < t ? option.held : 0); m <= memory_; ++m) {
      const Nanoseconds cost = own + (s < t ? at(s + 1, t)[m - option.held].cost : 0);
      if (cost < entries[m].cost) entries[m] = {cost, choice};
    }
  }
}

void SegmentProgram::offer_cuts(std::size_t s, std::size_t t) {
  Slots need = 0;
  for (std::size_t c = s + 1; c <= t; ++c) {
    const SegmentStage& passed = chain_.stages[c - 1];
    const Slots running = is_again(t) ? passed.pass_again + chain_.stages[t].beside : passed.pass_first;
    need = std::max(need, running + chain_.crossing(s, c - 1).passing + chain_.stages[s].dead_input);
    offer_cut(s, t, c, need);
  }
}

void SegmentProgram::offer_cut(std::size_t s, std::size_t t, std::size_t c, Slots need) {
  const Crossing& crossing = chain_.crossing(s, c);
  const Slots dead = chain_.stages[s].dead_input;
  // Stages s … c − 1, where what crosses cut c is there.
  const Nanoseconds rerun = rerun_before_[c - 1] - rerun_before_[s] + chain_.stages[c - 1].rerun_as_last;
  Entry* const entries = at(s, t);
  const Entry* const first = at(c, t);
  const Entry* const then = at(s, c - 1);
  auto offer = [&](Slots held, Nanoseconds own, Choice choice) {
    for (Slots m = std::max(need, held); m <= memory_; ++m) {
      const Nanoseconds cost = own + first[m - held].cost + then[m].cost;
      if (cost < entries[m].cost) entries[m] = {cost, choice};
    }
  };
  offer(crossing.held + dead, rerun, {.cut = static_cast<std::int32_t>(c)});
  if (price_ && !is_again(t) && crossing.copies > 0)
    offer(dead, rerun + price_of(crossing.copies), {.cut = static_cast<std::int32_t>(c), .moved = true});
}

std::optional<SegmentPolicy> SegmentProgram::best_policy(Slots memory) const {
  const Entry& entry = at(0, chain_.size() - 1)[memory];
  if (entry.cost >= kNever) return std::nullopt;
  SegmentPolicy policy{.stages = std::vector<SegmentPolicy::Stage>(chain_.size()),
                       .cuts = std::vector<SegmentPolicy::Cut>(chain_.size()),
                       .cost = entry.cost};
  trace(0, chain_.size() - 1, memory, 0, policy);
  return policy;
}

void SegmentProgram::trace(std::size_t s, std::size_t t, Slots memory, int level,
                           SegmentPolicy& policy) const {
  for (;;) {
    const Choice choice = at(s, t)[memory].choice;
    if (choice.cut < 0) {
      const auto option = static_cast<std::size_t>(choice.option);
      policy.stages[s] = {level, option};
      if (s == t) return;
      memory -= chain_.stages[s].options[option].held;
      ++s;
      continue;
    }
    const auto c = static_cast<std::size_t>(choice.cut);
    policy.cuts[c] = {level, choice.moved};
    trace(s, c - 1, memory, level + 1, policy);
    memory -= chain_.stages[s].dead_input + (choice.moved ? 0 : chain_.crossing(s, c).held);
    s = c;
  }
}

}  // namespace ebb
