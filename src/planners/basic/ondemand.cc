#include <algorithm>
#include <set>

#include "plan/lower.h"
#include "planners/basic/basic.h"

namespace ebb {
namespace {

// Walks the ops in order with the set of gaps that span the current op and are still kept, oldest access
// first.
class OnDemandWalk {
 public:
  explicit OnDemandWalk(const PlanningProblem& problem)
      : program_(problem.program),
        gaps_(problem.gaps),
        limit_(problem.limit),
        n_(problem.program.op_count()),
        begins_(problem.program.ops().size() + 1),
        ends_(problem.program.ops().size() + 1),
        plan_(Plan::keep_all(problem.gaps)) {}

  Plan run() {
    for (GapId g = 0; g < gaps_.count(); ++g) {
      if (gaps_[g].to == gaps_[g].from + 1) continue;
      begins_[static_cast<std::size_t>(gaps_[g].from) + 1].push_back(g);
      ends_[static_cast<std::size_t>(std::min(gaps_[g].to, n_))].push_back(g);
      if (gaps_[g].to <= n_) continue;
      idle_.insert({gaps_[g].from - n_, g});  // idle since the iteration before
      ends_[static_cast<std::size_t>(gaps_[g].to - n_)].push_back(g);
    }
    for (OpIndex j = 0; j < n_; ++j) {
      move_to(j);
      while (program_.demand(j) - absent_ > limit_ && !idle_.empty()) evict(j);
    }
    return std::move(plan_);
  }

 private:
  using Idle = std::pair<OpIndex, GapId>;  // since when, unrolled

  void move_to(OpIndex j) {
    for (GapId g : ends_[static_cast<std::size_t>(j)]) {
      idle_.erase({gaps_[g].from, g});
      idle_.erase({gaps_[g].from - n_, g});
      if (returns_at_[static_cast<std::size_t>(g)] == j) absent_ -= program_.block(gaps_[g].block).bytes;
    }
    for (GapId g : begins_[static_cast<std::size_t>(j)])
      if (plan_[g].action == Action::keep) idle_.insert({gaps_[g].from, g});
  }

  void evict(OpIndex j) {
    const auto [since, g] = *idle_.begin();
    idle_.erase(idle_.begin());
    const Gap& gap = gaps_[g];
    Decision& decision = plan_[g];
    decision.action = Action::swap;
    // A copy that would start in the next iteration starts at the end of this one.
    decision.out_after = since < 0 ? n_ - 1 : std::max(gap.from, j - 1);
    if (gap.kind != GapKind::trailing) decision.in_from = gap.to;
    absent_ += program_.block(gap.block).bytes;
    returns_at_[static_cast<std::size_t>(g)] = since < 0 ? gap.to - n_ : gap.to;
  }

  const Program& program_;
  const Gaps& gaps_;
  const Bytes limit_;
  const OpIndex n_;
  std::vector<std::vector<GapId>> begins_, ends_;  // by op: gaps whose first op it is; that no longer span it
  std::set<Idle> idle_;
  std::vector<OpIndex> returns_at_ = std::vector<OpIndex>(static_cast<std::size_t>(gaps_.count()), kNoOp);
  Bytes absent_ = 0;
  Plan plan_;
};

}  // namespace

PlanningResult plan_ondemand(const PlanningProblem& problem, const PlannerOptions& options) {
  PlanningResult result{.plan =
                            options.allow_swap ? OnDemandWalk(problem).run() : Plan::keep_all(problem.gaps)};
  LoweredPlan lowered;
  result.infeasible = Lowerer(problem.program, problem.gaps).lower(result.plan, problem.limit, lowered);
  return result;
}

}  // namespace ebb
