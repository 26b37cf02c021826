#include "planners/ebb/outliving.h"

#include <algorithm>

#include "plan/recipes.h"
#include "plan/stays.h"
#include "planners/ebb/untimed.h"

namespace ebb {

std::vector<OutlivingBlock> find_outliving(const PlanningProblem& problem) {
  const Program& program = problem.program;
  const OpIndex n = program.op_count();
  std::vector<OutlivingBlock> found;
  std::vector<std::int32_t> by_version(program.versions().size(), -1);
  for (GapId g = 0; g < problem.gaps.count(); ++g) {
    const Gap& gap = problem.gaps[g];
    const bool dies_here =
        gap.kind == GapKind::trailing && gap.to < n && program.block(gap.block).lifetime == Lifetime::local;
    if (!dies_here || changed_by_side_effect(program, gap)) continue;
    by_version[static_cast<std::size_t>(gap.version)] = static_cast<std::int32_t>(found.size());
    found.push_back({.gap = g, .bytes = program.block(gap.block).bytes});
  }
  for (const Gap& gap : problem.gaps) {
    const OpIndex writer = program.version(gap.version).writer;
    if (gap.kind != GapKind::between || writer < 0) continue;
    for (VersionId input : program.inputs(writer)) {
      const std::int32_t at = by_version[static_cast<std::size_t>(input)];
      if (at < 0) continue;
      OutlivingBlock& block = found[static_cast<std::size_t>(at)];
      if (problem.gaps[block.gap].to > gap.to) continue;
      block.serves += program.block(gap.block).bytes;
      block.until = std::max(block.until, gap.to);
    }
  }
  std::erase_if(found, [](const OutlivingBlock& block) { return block.serves == 0; });
  return found;
}

void keep_until(Plan& plan, const Gaps& gaps, GapId g, OpIndex end) {
  plan[g] = Decision{};
  if (end <= gaps[g].to) return;
  plan[g] = untimed(Action::recompute);
  plan[g].stays = std::vector<OpRange>{{gaps[g].from + 1, end}};
}

bool is_kept_past_death(const Plan& plan, const Gaps& gaps, GapId g) {
  return kept_past_death(gaps[g], plan[g]);
}

bool trim_outliving(const PlanningProblem& problem, const std::vector<OutlivingBlock>& blocks,
                    const LoweredPlan& lowered, Plan& plan) {
  bool any = false;
  std::vector<OpIndex> last_reader(problem.program.versions().size(), kNoOp);
  for (const OutlivingBlock& block : blocks) any = any || is_kept_past_death(plan, problem.gaps, block.gap);
  if (!any) return false;
  for (const ReplayStep& step : lowered.replays)
    for (VersionId input : problem.program.inputs(step.op))
      last_reader[static_cast<std::size_t>(input)] = step.before;
  bool trimmed = false;
  for (const OutlivingBlock& block : blocks) {
    if (!is_kept_past_death(plan, problem.gaps, block.gap)) continue;
    const OpIndex end = last_reader[static_cast<std::size_t>(problem.gaps[block.gap].version)] + 1;
    if (end >= plan[block.gap].stays->back().end) continue;
    keep_until(plan, problem.gaps, block.gap, end);
    trimmed = true;
  }
  return trimmed;
}

}  // namespace ebb
