#include <algorithm>

#include "plan/lower.h"
#include "planners/planner.h"

namespace ebb {
namespace {

// A gap that spans the op being made room for, and how long ago its block was last used.
struct Victim {
  GapId gap = -1;
  OpIndex idle = 0;
};

// The op's position in the gap's own iteration, or kNoOp if the gap does not span it.
OpIndex position_in(const Gap& gap, OpIndex op, OpIndex n) {
  if (gap.from < op && op < gap.to) return op;
  if (gap.from < op + n && op + n < gap.to) return op + n;
  return kNoOp;
}

}  // namespace

// Walks the ops in order. Where an op does not fit, the blocks used longest ago leave just before it, and
// each returns when an op asks for it: nothing is copied ahead of need. A copy that would start in the next
// iteration starts at the end of this one.
PlanningResult plan_ondemand(const PlanningProblem& problem, const PlannerOptions& options) {
  const Program& program = problem.program;
  const Gaps& gaps = problem.gaps;
  const OpIndex n = program.op_count();
  PlanningResult result{.plan = Plan::keep_all(gaps)};
  std::vector<Bytes> need(static_cast<std::size_t>(n));
  for (OpIndex j = 0; j < n; ++j) need[static_cast<std::size_t>(j)] = program.demand(j);
  std::vector<Victim> victims;
  for (OpIndex j = 0; j < n; ++j) {
    if (need[static_cast<std::size_t>(j)] <= problem.limit) continue;
    victims.clear();
    for (GapId g = 0; options.allow_swap && g < gaps.count(); ++g) {
      if (result.plan[g].action != Action::keep || gaps[g].to == gaps[g].from + 1) continue;
      const OpIndex position = position_in(gaps[g], j, n);
      if (position != kNoOp) victims.push_back({g, position - gaps[g].from});
    }
    std::sort(victims.begin(), victims.end(), [](const Victim& a, const Victim& b) {
      return a.idle != b.idle ? a.idle > b.idle : a.gap < b.gap;
    });
    for (const Victim& victim : victims) {
      if (need[static_cast<std::size_t>(j)] <= problem.limit) break;
      const Gap& gap = gaps[victim.gap];
      Decision& decision = result.plan[victim.gap];
      decision.action = Action::swap;
      decision.out_after = std::min(std::max(gap.from, gap.from + victim.idle - 1), n - 1);
      if (gap.kind != GapKind::trailing) decision.in_from = gap.to;
      for (OpIndex k = decision.out_after + 1; k < gap.to; ++k)
        need[static_cast<std::size_t>(k % n)] -= program.block(gap.block).bytes;
    }
  }
  LoweredPlan lowered;
  result.infeasible = Lowerer(program, gaps).lower(result.plan, problem.limit, lowered);
  return result;
}

}  // namespace ebb
