#include "planners/ebb/choices.h"

#include "plan/recipes.h"

namespace ebb {
namespace {

// Sums over cyclic, unrolled ranges of ops.
class ComputeBefore {
 public:
  explicit ComputeBefore(const PlanningProblem& problem) {
    before_.push_back(0);
    for (int round = 0; round < 2; ++round)
      for (const Op& op : problem.program.ops())
        before_.push_back(before_.back() + problem.machine.least_time(op));
  }
  // Of the ops in [first, last]; last < 2n.
  Nanoseconds between(OpIndex first, OpIndex last) const {
    return before_[static_cast<std::size_t>(last) + 1] - before_[static_cast<std::size_t>(first)];
  }

 private:
  std::vector<Nanoseconds> before_;
};

bool never_written(const Program& program, BlockId block) {
  if (program.block(block).lifetime != Lifetime::persistent) return false;
  for (const BlockAccess& access : program.accesses(block))
    if (access.writes) return false;
  return true;
}

Nanoseconds time_of(const PlanningProblem& problem, const Recipe& recipe) {
  Nanoseconds total = 0;
  for (OpIndex op : recipe.ops) total += problem.machine.replay_price(problem.program.op(op));
  return total;
}

}  // namespace

std::vector<Choice> find_choices(const PlanningProblem& problem, const PlannerOptions& options,
                                 std::span<const OutlivingBlock> outliving) {
  const Program& program = problem.program;
  const ComputeBefore compute(problem);
  std::vector<BlockId> kept;
  for (const OutlivingBlock& block : outliving) kept.push_back(problem.gaps[block.gap].block);
  const std::vector<Recipe> recipes = find_recipes(program, problem.gaps, kept);
  const std::vector<char> remakable = find_remakable(program, problem.gaps);
  std::vector<Choice> choices;
  for (GapId g = 0; g < problem.gaps.count(); ++g) {
    const Gap& gap = problem.gaps[g];
    if (gap.to - gap.from < 2) continue;
    const Bytes bytes = program.block(gap.block).bytes;
    Choice choice{.gap = g, .first = gap.from + 1, .last = gap.to - 1, .bytes = bytes};
    choice.can_swap = options.allow_swap;
    const Recipe& recipe = recipes[static_cast<std::size_t>(g)];
    choice.can_recompute = options.allow_recompute && recipe.remakable &&
                           (gap.kind != GapKind::trailing || remakable[static_cast<std::size_t>(g)]);
    if (!choice.can_swap && !choice.can_recompute) continue;
    if (gap.kind != GapKind::trailing) {
      choice.remake = time_of(problem, recipe);
      choice.copies += problem.machine.copy_in_time(bytes);
      choice.issue += problem.machine.copy_issue;
    }
    if (!never_written(program, gap.block)) {
      choice.copies += problem.machine.copy_out_time(bytes);
      choice.issue += problem.machine.copy_issue;
    }
    choice.span = compute.between(choice.first, choice.last);
    choices.push_back(choice);
  }
  return choices;
}

}  // namespace ebb
