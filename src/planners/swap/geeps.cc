#include <algorithm>

#include "planners/evaluator.h"
#include "planners/swap/layers.h"
#include "planners/swap/swap.h"

namespace ebb {
namespace {

class LayerSwapping {
 public:
  explicit LayerSwapping(const PlanningProblem& problem)
      : problem_(problem), layers_(problem.program), plan_(Plan::keep_all(problem.gaps)) {
    for (OpIndex j = 0; j < problem.program.op_count(); ++j) need_.push_back(problem.program.demand(j));
    blocks_.resize(static_cast<std::size_t>(layers_.count()));
    for (BlockId b = 0; b < problem.program.block_count(); ++b)
      if (problem.program.managed(b)) blocks_[static_cast<std::size_t>(home_of(b))].push_back(b);
  }

  // Returns how many layers had to be swapped.
  int swap_until_it_fits() {
    int layer = 0;
    for (; layer < layers_.count() && *std::max_element(need_.begin(), need_.end()) > problem_.limit; ++layer)
      for (const BlockId b : blocks_[static_cast<std::size_t>(layer)])
        for (GapId g = problem_.gaps.first(b); g < problem_.gaps.last(b); ++g) swap(g);
    return layer;
  }

  Plan& plan() { return plan_; }

 private:
  // The layer that brings the block, or uses it first.
  int home_of(BlockId b) const {
    const Block& block = problem_.program.block(b);
    return layers_.of(block.lifetime == Lifetime::persistent ? problem_.program.accesses(b).front().op
                                                             : block.birth);
  }

  // Two layers have their data in memory, the one that runs and a neighbour: a gap that has no layer of its
  // own between its two accesses is kept.
  void swap(GapId g) {
    const Gap& gap = problem_.gaps[g];
    const bool trailing = gap.kind == GapKind::trailing;
    const int before = layers_.of(gap.from), after = layers_.of(trailing ? gap.to - 1 : gap.to);
    if (after - before < 2) return;
    Decision& decision = plan_[g];
    decision.action = Action::swap;
    decision.out_after = gap.from;
    decision.out_by = layers_.begin(before + 2);
    OpIndex back = gap.to;
    if (!trailing) {
      decision.in_from = back = layers_.begin(after - 1);
      decision.in_by = layers_.begin(after);
    }
    for (OpIndex j = gap.from + 1; j < back; ++j)
      need_[static_cast<std::size_t>(j % problem_.program.op_count())] -=
          problem_.program.block(gap.block).bytes;
  }

  const PlanningProblem& problem_;
  Layers layers_;
  std::vector<std::vector<BlockId>> blocks_;  // by layer
  std::vector<Bytes> need_;                   // by op
  Plan plan_;
};

}  // namespace

PlanningResult plan_geeps(const PlanningProblem& problem, const PlannerOptions& options) {
  PlanningResult result;
  LayerSwapping swapping(problem);
  if (options.allow_swap)
    result.findings = {{"layers swapped", static_cast<double>(swapping.swap_until_it_fits()), ""}};
  result.plan = std::move(swapping.plan());
  Evaluator evaluate(problem);
  result.infeasible = evaluate(result.plan).infeasible;
  result.evaluations = evaluate.count();
  return result;
}

}  // namespace ebb
