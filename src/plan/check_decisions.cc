#include "plan/check_decisions.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/recipes.h"

namespace ebb {

std::optional<Infeasible> check_recomputes(const Program& program, const Gaps& gaps,
                                           const std::function<bool(GapId)>& remakable, const Plan& plan) {
  const OpIndex n = program.op_count();
  for (GapId g = 0; g < gaps.count(); ++g) {
    const Decision& decision = plan[g];
    if (decision.action != Action::recompute) continue;
    const Gap& gap = gaps[g];
    const bool trailing = gap.kind == GapKind::trailing;
    if (gap.to > n || (gap.to == n && !trailing))
      return Infeasible{
          Obstacle::not_remakable, gap.from, gap.block, 0, 0, "its gap crosses the end of the iteration"};
    if (changed_by_side_effect(program, gap))
      return Infeasible{
          Obstacle::not_remakable, gap.from, gap.block, 0, 0, "a side effect wrote it after it was made"};
    const bool may_outlive = trailing && program.block(gap.block).lifetime == Lifetime::local;
    const OpIndex most = may_outlive ? n : gap.to;
    OpIndex before = gap.from + 1;
    bool covered = trailing && gap.to == gap.from + 1;
    if (decision.stays)
      for (const OpRange& stay : *decision.stays) {
        if (stay.begin < before || stay.end <= stay.begin || stay.end > most)
          return Infeasible{Obstacle::bad_timing,
                            gap.from,
                            gap.block,
                            0,
                            0,
                            fmt::format("stay [{}, {}) does not fit its gap ({}, {})", stay.begin, stay.end,
                                        gap.from, gap.to)};
        covered = covered || (stay.begin == gap.from + 1 && stay.end >= gap.to);
        before = stay.end + 1;
      }
    if (trailing && !covered && !remakable(g))
      return Infeasible{
          Obstacle::not_remakable, gap.to - 1, gap.block, 0, 0, "its inputs are gone before it is freed"};
  }
  return std::nullopt;
}

std::optional<Infeasible> check_swaps(const Program& program, const Gaps& gaps, const HostCopies& host,
                                      const Plan& plan, const std::vector<Swap>& swaps) {
  const OpIndex n = program.op_count();
  for (const Swap& swap : swaps) {
    const Gap& gap = gaps[swap.gap];
    const Decision& d = plan[swap.gap];
    auto bad = [&](const char* what) {
      return Infeasible{Obstacle::bad_timing, gap.from, gap.block, 0, 0, what};
    };
    if (gap.to == gap.from + 1) return bad("the gap has no op in it");
    const OpIndex write = host.last_write(swap.gap);
    const OpIndex leaves = std::max(gap.from, swap.out_after);
    if (write != HostCopies::kNeverWritten && swap.out_after < write)
      return bad("out_after lies before the last write");
    if (swap.out_after < gap.from && swap.clean)
      return bad("out_after is set before the gap of a clean swap");
    if (d.out_after != kAuto && d.out_after < gap.from && !host.present_since(plan, swap.gap, d.out_after))
      return bad("out_after lies where the block is absent");
    if (swap.out_after >= gap.to || swap.out_after >= n) return bad("out_after lies behind the gap");
    if (d.out_by != kAuto && (d.out_by <= leaves || d.out_by >= 2 * n))
      return bad("out_by lies before the copy");
    if (gap.kind == GapKind::trailing) continue;
    if (d.in_from != kAuto && (d.in_from <= leaves || d.in_from > gap.to))
      return bad("in_from lies outside the gap");
    if (d.in_by != kAuto && (d.in_by <= leaves || d.in_by > gap.to)) return bad("in_by lies outside the gap");
  }
  return std::nullopt;
}

}  // namespace ebb
