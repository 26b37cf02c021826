#include "layout/by_position.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "layout/address_waits.h"

namespace ebb::layout {
namespace {

OpIndex last_op_before_leaving(const Gap& gap, const Swap& swap) {
  return std::max(gap.from, swap.out_after);
}

// What happens around every op, in the order of the lowered plan.
class PositionWalk {
 public:
  PositionWalk(const Program& program, const Gaps& gaps, const LoweredPlan& lowered)
      : n_(program.op_count()),
        lowered_(lowered),
        ins_(program.ops().size()),
        outs_before_(program.ops().size()),
        outs_after_(program.ops().size()),
        releases_(program.ops().size()),
        drops_(program.ops().size()) {
    for (const std::int32_t i : lowered.ins) {
      const Swap& swap = lowered.swaps[static_cast<std::size_t>(i)];
      at(ins_, swap.in_from % n_).push_back(swap.gap);
    }
    for (const std::int32_t i : lowered.outs) {
      const Swap& swap = lowered.swaps[static_cast<std::size_t>(i)];
      const Gap& gap = gaps[swap.gap];
      const OpIndex last = last_op_before_leaving(gap, swap);
      const bool early = swap.out_after < last;
      if (!early && gap.kind == GapKind::trailing && gap.to == last + 1) continue;  // it dies instead
      at(early ? outs_before_ : outs_after_, last).push_back(swap.gap);
      at(releases_, last).push_back(swap.gap);
    }
    for (const Drop& drop : lowered.drops) at(drops_, drop.after).push_back(drop.gap);
  }

  PositionSchedule run() {
    std::size_t step = 0;
    for (OpIndex j = 0; j < n_; ++j) {
      result_.start.push_back(result_.schedule.commands.size());
      add_all(CommandKind::start_in, at(ins_, j));
      for (; step < lowered_.replays.size() && lowered_.replays[step].before == j; ++step)
        add_item(CommandKind::replay, lowered_.replays[step].op);
      add_all(CommandKind::start_out, at(outs_before_, j));
      add_item(CommandKind::run, j);
      add_all(CommandKind::drop, at(drops_, j));
      add_all(CommandKind::start_out, at(outs_after_, j));
      add_all(CommandKind::release, at(releases_, j));
    }
    result_.start.push_back(result_.schedule.commands.size());
    return std::move(result_);
  }

 private:
  using ByOp = std::vector<std::vector<GapId>>;
  static std::vector<GapId>& at(ByOp& list, OpIndex op) { return list[static_cast<std::size_t>(op)]; }

  void add_item(CommandKind kind, OpIndex op) {
    result_.schedule.commands.push_back({.kind = kind, .op = op, .ended = items_++});
  }
  void add_all(CommandKind kind, const std::vector<GapId>& gaps) {
    for (const GapId g : gaps) result_.schedule.commands.push_back({.kind = kind, .gap = g, .ended = items_});
  }

  const OpIndex n_;
  const LoweredPlan& lowered_;
  ByOp ins_, outs_before_, outs_after_, releases_, drops_;
  std::int32_t items_ = 0;
  PositionSchedule result_;
};

}  // namespace

PositionSchedule schedule_by_position(const Program& program, const Gaps& gaps, const LoweredPlan& lowered) {
  return PositionWalk(program, gaps, lowered).run();
}

AddressGates address_gates(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                           const Schedule& by_position, const ArenaProblem& arena, const Layout& layout) {
  const auto outs = static_cast<std::int32_t>(lowered.outs.size());
  std::vector<std::int32_t> out_of(static_cast<std::size_t>(gaps.count()), -1);
  for (std::int32_t k = 0; k < outs; ++k)
    out_of[static_cast<std::size_t>(
        lowered.swaps[static_cast<std::size_t>(lowered.outs[static_cast<std::size_t>(k)])].gap)] = k;
  std::vector<std::size_t> in_of(static_cast<std::size_t>(gaps.count()), 0);
  for (std::size_t k = 0; k < lowered.ins.size(); ++k)
    in_of[static_cast<std::size_t>(lowered.swaps[static_cast<std::size_t>(lowered.ins[k])].gap)] = k;

  const AddressWaits waits = address_waits(arena, layout);
  AddressGates gates{.items = {}, .ins = std::vector<std::int32_t>(lowered.ins.size(), kNoGate)};
  for (std::size_t c = 0; c < by_position.commands.size(); ++c) {
    const Command& command = by_position.commands[c];
    std::int32_t gate = kNoGate;
    for (const std::int32_t w : waits[c]) {
      const Command& frees = by_position.commands[static_cast<std::size_t>(w)];
      if (frees.kind != CommandKind::release) continue;  // the end of an item, which comes before anyway
      const bool before = static_cast<std::size_t>(w) >= c;
      gate = std::max(gate, out_of[static_cast<std::size_t>(frees.gap)] + 1 - (before ? outs : 0));
    }
    if (command.kind == CommandKind::run || command.kind == CommandKind::replay) gates.items.push_back(gate);
    if (command.kind != CommandKind::start_in || gate == kNoGate) continue;
    const std::size_t k = in_of[static_cast<std::size_t>(command.gap)];
    const Swap& swap = lowered.swaps[static_cast<std::size_t>(lowered.ins[k])];
    const bool listed_next = swap.needed_at >= program.op_count() && swap.in_from < program.op_count();
    gates.ins[k] = gate - (listed_next ? outs : 0);
  }
  return gates;
}

void return_early(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                  const PositionSchedule& by_position, const ArenaProblem& arena, const Layout& layout,
                  Plan& plan) {
  const OpIndex n = program.op_count();
  const std::vector<Buffer>& buffers = arena.problem.buffers;
  const Time period = *arena.problem.period;
  auto time_of = [&](OpIndex position) {
    return static_cast<Time>(by_position.start[static_cast<std::size_t>(position % n)]) +
           (position / n) * period;
  };
  std::vector<std::size_t> copy_in(static_cast<std::size_t>(gaps.count()), buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (arena.residencies[i].taken_by == TakenBy::copy_in)
      copy_in[static_cast<std::size_t>(arena.residencies[i].gap)] = i;
  for (const std::int32_t i : lowered.ins) {
    const Swap& swap = lowered.swaps[static_cast<std::size_t>(i)];
    const std::size_t own = copy_in[static_cast<std::size_t>(swap.gap)];
    if (own == buffers.size()) continue;
    const Time begin = time_of(swap.in_from);
    const OpIndex first = last_op_before_leaving(gaps[swap.gap], swap) + 1;
    Time free = time_of(first);
    const Bytes low = layout.offsets[own];
    const Bytes high = low + buffers[own].size;
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      if (k == own || layout.offsets[k] + buffers[k].size <= low || high <= layout.offsets[k]) continue;
      for (const Time shift : {-period, Time{0}, period})
        if (buffers[k].begin + shift < begin) free = std::max(free, buffers[k].end + shift);
    }
    OpIndex in_from = swap.in_from;
    while (in_from > first && time_of(in_from - 1) >= free) --in_from;
    plan[swap.gap].in_from = in_from;
  }
}

std::optional<Layout> transfer(const ArenaProblem& from, const Layout& layout, const ArenaProblem& to,
                               Bytes alignment) {
  using Key = std::tuple<TakenBy, BlockId, OpIndex, OpIndex, GapId>;
  auto key = [](const Residency& r) { return Key(r.taken_by, r.block, r.op, r.before, r.gap); };
  std::map<Key, Bytes> offsets;
  for (std::size_t i = 0; i < from.residencies.size(); ++i)
    offsets[key(from.residencies[i])] = layout.offsets[i];
  Layout result{.fits = true, .footprint = layout.footprint, .load = peak_load(to.problem, alignment)};
  result.lower_bound = result.load;
  for (const Residency& residency : to.residencies) {
    const auto it = offsets.find(key(residency));
    if (it == offsets.end()) return std::nullopt;
    result.offsets.push_back(it->second);
  }
  if (to.residencies.size() != from.residencies.size()) return std::nullopt;
  result.proved = result.footprint == result.load;
  return result;
}

}  // namespace ebb::layout
