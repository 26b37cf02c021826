#include "simulate/compiled_plan.h"

#include <algorithm>
#include <limits>

namespace ebb {
namespace {

// Turns (key, value) pairs into CSR lists, keeping the order of the pairs within a key.
void group_by(const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs, std::size_t keys,
              std::vector<std::int32_t>& first, std::vector<std::int32_t>& list) {
  first.assign(keys + 1, 0);
  list.resize(pairs.size());
  if (pairs.empty()) return;
  for (const auto& [key, value] : pairs) ++first[static_cast<std::size_t>(key) + 1];
  for (std::size_t k = 0; k < keys; ++k) first[k + 1] += first[k];
  std::vector<std::int32_t> next(first.begin(), first.end() - 1);
  for (const auto& [key, value] : pairs)
    list[static_cast<std::size_t>(next[static_cast<std::size_t>(key)]++)] = value;
}

}  // namespace

PlanCompiler::PlanCompiler(const Program& program, const Gaps& gaps, const Machine& machine)
    : program_(program), gaps_(gaps), machine_(machine) {
  for (const Op& op : program.ops()) op_times_.push_back(machine.op_time(op));
  for (const Block& block : program.blocks()) {
    out_times_.push_back(machine.bandwidth_out > 0 ? machine.copy_out_time(block.bytes) : 0);
    in_times_.push_back(machine.bandwidth_in > 0 ? machine.copy_in_time(block.bytes) : 0);
  }
}

void PlanCompiler::compile(const LoweredPlan& plan, const AddressGates* gates, CompiledPlan& result) {
  result.initial = plan.initial;
  list_items(plan, result);
  list_copies(plan, result);
  set_waits(plan, result);
  if (gates == nullptr) return;
  for (std::size_t i = 0; i < result.items.size(); ++i) result.items[i].room_outs = gates->items[i];
  for (std::size_t i = 0; i < result.ins.size(); ++i)
    result.ins[i].own_out = std::max(result.ins[i].own_out, gates->ins[i]);
}

void PlanCompiler::list_items(const LoweredPlan& plan, CompiledPlan& result) {
  const OpIndex n = program_.op_count();
  result.items.clear();
  op_item_.resize(static_cast<std::size_t>(n));
  first_item_.resize(static_cast<std::size_t>(n));
  std::size_t step = 0;
  for (OpIndex j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    first_item_[at] = static_cast<std::int32_t>(result.items.size());
    for (; step < plan.replays.size() && plan.replays[step].before == j; ++step) {
      const ReplayStep& replay = plan.replays[step];
      const Bytes workspace = program_.op(replay.op).workspace;
      result.items.push_back({.op = replay.op,
                              .position = j,
                              .replay = true,
                              .duration = op_times_[static_cast<std::size_t>(replay.op)],
                              .need = replay.allocates + workspace,
                              .frees = replay.frees + workspace,
                              .workspace = workspace});
    }
    op_item_[at] = static_cast<std::int32_t>(result.items.size());
    const Op& op = program_.op(j);
    result.items.push_back({.op = j,
                            .position = j,
                            .duration = op_times_[at],
                            .issue = op.issue,
                            .need = program_.birth_bytes(j) + op.workspace,
                            .frees = plan.freed[at] + op.workspace,
                            .workspace = op.workspace});
  }
}

void PlanCompiler::list_copies(const LoweredPlan& plan, CompiledPlan& result) {
  const OpIndex n = program_.op_count();
  const auto items = static_cast<std::int32_t>(result.items.size());
  // Items ended once the op at an unrolled index (from -n to 2n) has.
  auto ended_after = [&](OpIndex op) {
    const OpIndex shift = op < 0 ? -1 : (op >= n ? 1 : 0);
    return op_item_[static_cast<std::size_t>(op - shift * n)] + 1 + shift * items;
  };
  out_index_.assign(plan.swaps.size(), -1);
  result.outs.clear();
  std::vector<std::pair<std::int32_t, std::int32_t>> releases, deaths, drops;
  for (std::size_t i = 0; i < plan.outs.size(); ++i) {
    const Swap& swap = plan.swaps[static_cast<std::size_t>(plan.outs[i])];
    const Gap& gap = gaps_[swap.gap];
    const auto index = static_cast<std::int32_t>(i);
    out_index_[static_cast<std::size_t>(plan.outs[i])] = index;
    OutCopy copy{.gap = swap.gap,
                 .bytes = swap.bytes,
                 .duration = out_times_[static_cast<std::size_t>(swap.block)],
                 .start_after = ended_after(swap.out_after),
                 .release_after = ended_after(gap.from),
                 .dies_after = std::numeric_limits<std::int32_t>::max() / 4};
    if (swap.out_after < gap.from) releases.push_back({copy.release_after - 1, index});
    if (gap.kind == GapKind::trailing) {
      copy.dies_after = ended_after(gap.to - 1);
      const bool next = gap.to - 1 >= n;
      deaths.push_back({copy.dies_after - 1 - (next ? items : 0),
                        index - (next ? static_cast<std::int32_t>(plan.outs.size()) : 0)});
    }
    result.outs.push_back(copy);
  }
  result.ins.clear();
  for (std::int32_t i : plan.ins) {
    const Swap& swap = plan.swaps[static_cast<std::size_t>(i)];
    const bool next = swap.needed_at >= n;
    const OpIndex from = swap.in_from - (next ? n : 0);
    const std::int32_t out = out_index_[static_cast<std::size_t>(i)];
    result.ins.push_back({.gap = swap.gap,
                          .bytes = swap.bytes,
                          .duration = in_times_[static_cast<std::size_t>(swap.block)],
                          .start_after = from < 0 ? first_item_[static_cast<std::size_t>(from + n)] - items
                                                  : first_item_[static_cast<std::size_t>(from)],
                          .own_out = swap.clean
                                         ? std::numeric_limits<std::int32_t>::min() / 4
                                         : out + 1 - (next ? static_cast<std::int32_t>(plan.outs.size()) : 0),
                          .needed_position = swap.needed_at - (next ? n : 0)});
  }
  for (const Drop& drop : plan.drops) drops.push_back({ended_after(drop.after) - 1, drop.gap});
  std::stable_sort(drops.begin(), drops.end());
  group_by(releases, result.items.size(), result.release_first, result.release_list);
  group_by(deaths, result.items.size(), result.death_first, result.death_list);
  group_by(drops, result.items.size(), result.drop_first, result.drop_list);
  for (const auto* pairs : {&releases, &deaths})
    for (const auto& [item, index] : *pairs) result.items[static_cast<std::size_t>(item)].has_end_work = true;
}

void PlanCompiler::set_waits(const LoweredPlan& plan, CompiledPlan& result) {
  const OpIndex n = program_.op_count();
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::min() / 4;
  auto raise = [&](OpIndex position, std::int32_t Item::*count, std::int32_t value) {
    Item& item = result.items[static_cast<std::size_t>(first_item_[static_cast<std::size_t>(position)])];
    item.*count = std::max(item.*count, value);
  };
  for (Item& item : result.items) item.ins_done = item.outs_done = item.room_outs = kNone;
  for (std::size_t i = 0; i < result.ins.size(); ++i)
    raise(result.ins[i].needed_position, &Item::ins_done, static_cast<std::int32_t>(i) + 1);
  for (std::size_t i = 0; i < plan.outs.size(); ++i) {
    const OpIndex by = plan.swaps[static_cast<std::size_t>(plan.outs[i])].out_by;
    if (by == kAuto) continue;
    const auto outs = static_cast<std::int32_t>(plan.outs.size());
    raise(by % n, &Item::outs_done, static_cast<std::int32_t>(i) + 1 - (by >= n ? outs : 0));
  }
  std::int32_t ins = kNone;
  std::int32_t outs = kNone;
  for (Item& item : result.items) {
    item.ins_done = ins = std::max(ins, item.ins_done);
    item.outs_done = outs = std::max(outs, item.outs_done);
  }
}

}  // namespace ebb
