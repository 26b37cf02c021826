#include <algorithm>

#include "plan/turn.h"
#include "planners/chain/candidates.h"
#include "planners/chain/chain_planners.h"

namespace ebb {
namespace {

bool is_convolution(const Op& op) { return op.name.find("conv") != std::string::npos; }

// Inputs of layers that backward reads again: each gap lies between the last layer in forward and the first
// in backward. In the order in which they leave.
class LayerInputs {
 public:
  LayerInputs(const PlanningProblem& problem)
      : program_(problem.program), gaps_(problem.gaps), turn_(find_turn(problem.program)) {
    for (GapId g = 0; g < gaps_.count(); ++g) {
      const Gap& gap = gaps_[g];
      if (program_.block(gap.block).lifetime != Lifetime::local || gap.kind != GapKind::between) continue;
      if (gap.from < turn_ && gap.to >= turn_) all_.push_back(g);
    }
    std::stable_sort(all_.begin(), all_.end(),
                     [&](GapId a, GapId b) { return gaps_[a].from < gaps_[b].from; });
    for (const GapId g : all_)
      if (feeds_convolution(gaps_[g].block)) convolutions_.push_back(g);
  }

  const std::vector<GapId>& of_all() const { return all_; }
  const std::vector<GapId>& of_convolutions() const { return convolutions_; }
  OpIndex turn() const { return turn_; }

 private:
  bool feeds_convolution(BlockId block) const {
    const auto accesses = program_.accesses(block);
    return std::any_of(accesses.begin(), accesses.end(), [&](const BlockAccess& access) {
      return access.op < turn_ && access.reads && is_convolution(program_.op(access.op));
    });
  }

  const Program& program_;
  const Gaps& gaps_;
  const OpIndex turn_;
  std::vector<GapId> all_;
  std::vector<GapId> convolutions_;
};

OpIndex last_forward_write(const Program& program, const Gap& gap) {
  OpIndex last = program.block(gap.block).birth;
  for (const BlockAccess& access : program.accesses(gap.block))
    if (access.writes && access.op <= gap.from) last = access.op;
  return last;
}

// The copy runs beside the layer, and the next one waits for it. On the way back, a layer that uses what has
// returned starts the return of the next, and the layer after waits for that.
Plan synchronous_plan(const PlanningProblem& problem, std::vector<GapId> leaving, OpIndex turn) {
  Plan plan = Plan::keep_all(problem.gaps);
  const auto by_need = [&](GapId a, GapId b) { return problem.gaps[a].to < problem.gaps[b].to; };
  std::stable_sort(leaving.begin(), leaving.end(), by_need);
  OpIndex starts = turn;  // the layer at whose start the next return begins
  OpIndex latest = turn;  // the last layer that needs something so far
  for (const GapId g : leaving) {
    const Gap& gap = problem.gaps[g];
    if (gap.to > latest) {
      starts = latest;
      latest = gap.to;
    }
    plan[g] = {.action = Action::swap,
               .out_after = std::max(last_forward_write(problem.program, gap), gap.from - 1),
               .out_by = gap.from + 1,
               .in_from = std::clamp(starts, gap.from + 1, gap.to),
               .in_by = std::clamp(starts + 1, gap.from + 1, gap.to),
               .stays = {}};
  }
  return plan;
}

Plan swap_every(const PlanningProblem& problem, const std::vector<GapId>& leaving, std::size_t every) {
  Plan plan = Plan::keep_all(problem.gaps);
  for (std::size_t k = 0; k < leaving.size(); k += every) plan[leaving[k]].action = Action::swap;
  return plan;
}

}  // namespace

PlanningResult plan_vdnn(const PlanningProblem& problem, const PlannerOptions& options) {
  if (auto kept = plan_without_swaps(problem, options)) return *kept;
  const LayerInputs inputs(problem);
  const double which = value_of(kVdnnInputs, options);
  Candidates candidates(problem);
  if (which != 2) candidates.consider(synchronous_plan(problem, inputs.of_convolutions(), inputs.turn()));
  if (which != 1) candidates.consider(synchronous_plan(problem, inputs.of_all(), inputs.turn()));
  return candidates.result();
}

PlanningResult plan_vdnn_plus(const PlanningProblem& problem, const PlannerOptions& options) {
  if (auto kept = plan_without_swaps(problem, options)) return *kept;
  const LayerInputs inputs(problem);
  const double which = value_of(kVdnnEvery, options);
  Candidates candidates(problem);
  if (which != 1) candidates.consider(swap_every(problem, inputs.of_convolutions(), 2));
  if (which != 2) candidates.consider(swap_every(problem, inputs.of_convolutions(), 1));
  return candidates.result();
}

}  // namespace ebb
