#include "plan/return_placer.h"

#include <algorithm>
#include <utility>

namespace ebb {
namespace {

Swap& swap_at(LoweredPlan& result, std::int32_t i) { return result.swaps[static_cast<std::size_t>(i)]; }

void sort_by(LoweredPlan& result, std::vector<std::int32_t>& list, auto key) {
  std::stable_sort(list.begin(), list.end(), [&](std::int32_t a, std::int32_t b) {
    return key(swap_at(result, a)) < key(swap_at(result, b));
  });
}

std::optional<Infeasible> find_excess(const std::vector<Bytes>& need, Bytes limit) {
  const auto worst = std::max_element(need.begin(), need.end());
  if (*worst <= limit) return std::nullopt;
  return Infeasible{Obstacle::too_large, static_cast<OpIndex>(worst - need.begin()), -1, *worst, limit, ""};
}

}  // namespace

std::optional<Infeasible> ReturnPlacer::place(const Plan& plan, Bytes limit, LoweredPlan& result) {
  if (auto failure = find_excess(result.need, limit)) return failure;
  list_copies(result);
  choose_starts(plan, limit, result);
  if (auto failure = find_excess(result.need, limit)) return failure;
  order_links(plan, result);
  write_back(result);
  return std::nullopt;
}

void ReturnPlacer::list_copies(LoweredPlan& result) const {
  result.ins.clear();
  result.outs.clear();
  for (std::size_t i = 0; i < result.swaps.size(); ++i) {
    if (!result.swaps[i].clean) result.outs.push_back(static_cast<std::int32_t>(i));
    if (gaps_[result.swaps[i].gap].kind != GapKind::trailing)
      result.ins.push_back(static_cast<std::int32_t>(i));
  }
}

void ReturnPlacer::choose_starts(const Plan& plan, Bytes limit, LoweredPlan& result) {
  room_.assign(result.need);
  auto directive = [&](const Swap& swap) { return plan[swap.gap].in_from; };
  for (std::int32_t i : result.ins) {
    Swap& swap = swap_at(result, i);
    if (directive(swap) == kAuto) continue;
    swap.in_from = std::min(directive(swap), swap.needed_at);
    room_.add(swap.in_from, swap.needed_at, swap.bytes);
  }
  sort_by(result, result.ins, [&](const Swap& s) { return s.needed_at % ops_; });
  for (std::int32_t i : result.ins) {
    Swap& swap = swap_at(result, i);
    if (directive(swap) != kAuto) continue;
    const OpIndex leaves = std::max(gaps_[swap.gap].from, swap.out_after);
    swap.in_from = room_.earliest(leaves + 1, swap.needed_at, swap.bytes, limit);
    room_.add(swap.in_from, swap.needed_at, swap.bytes);
  }
  room_.copy_to(result.need);
}

void ReturnPlacer::order_links(const Plan& plan, LoweredPlan& result) const {
  sort_by(result, result.outs, [&](const Swap& s) {
    return plan[s.gap].out_order == kAuto ? gaps_[s.gap].from : plan[s.gap].out_order;
  });
  sort_by(result, result.ins, [&](const Swap& s) {
    return std::pair(plan[s.gap].in_order == kAuto ? s.needed_at % ops_ : plan[s.gap].in_order, s.gap);
  });
}

void ReturnPlacer::write_back(LoweredPlan& result) const {
  for (Swap& swap : result.swaps) {
    Decision& decision = result.plan[swap.gap];
    decision.out_after = swap.out_after;
    swap.out_by = decision.out_by;
    if (gaps_[swap.gap].kind == GapKind::trailing) {
      swap.in_from = swap.needed_at;
      continue;
    }
    decision.in_from = swap.in_from;
    decision.in_by = swap.needed_at;
  }
}

}  // namespace ebb
