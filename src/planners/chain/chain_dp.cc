#include <algorithm>
#include <array>
#include <numeric>

#include "planners/basic/basic.h"
#include "planners/chain/candidates.h"
#include "planners/chain/chain_planners.h"
#include "planners/chain/segment_view.h"

namespace ebb {
namespace {

// The price of a nanosecond of copying: what of it does not hide behind compute.
constexpr std::array kLinkPrices = {0.3, 0.1, 1.0, 0.02};
constexpr double kMostMemory = 1.25;  // of the limit: the chain asks for more than the step, or for less
constexpr Slots kAround = 8;          // slots

class SegmentPlanner {
 public:
  SegmentPlanner(const PlanningProblem& problem, const PlannerOptions& options, bool may_move)
      : problem_(problem),
        view_(view_as_chain(problem.program, problem.gaps, problem.machine)),
        mirror_(problem.program, problem.gaps),
        candidates_(problem),
        may_move_(may_move && options.allow_swap),
        may_rerun_(options.allow_recompute),
        most_(std::max<std::size_t>(1, static_cast<std::size_t>(value_of(kChainDpStages, options)))),
        slots_(std::max<Slots>(1, static_cast<Slots>(value_of(kChainDpSlots, options)))) {}

  // With all cuts and with half of them.
  PlanningResult plan() {
    const std::size_t layers = view_.parts.size();
    const std::size_t all = std::min(layers, most_), half = std::min((layers + 1) / 2, most_);
    plan_with(dearest_cuts(problem_, view_, mirror_, all));
    if (half != all) plan_with(dearest_cuts(problem_, view_, mirror_, half));
    if (!candidates_.found()) leave_with_all();
    PlanningResult result = candidates_.result();
    result.findings.push_back({"stages", static_cast<double>(all), ""});
    return result;
  }

 private:
  void plan_with(const std::vector<OpIndex>& starts) {
    const auto most = static_cast<Bytes>(kMostMemory * static_cast<double>(problem_.limit));
    const Bytes slot = std::max<Bytes>(1, most / slots_);
    const std::vector<GapId> lasting = may_move_ ? lasting_gaps(problem_, mirror_) : std::vector<GapId>{};
    for (const std::size_t parts : {0, 1, 2}) {
      if (parts > 0 && lasting.empty()) break;
      away_.assign(lasting.begin(),
                   lasting.begin() + static_cast<std::ptrdiff_t>(lasting.size() * parts / 2));
      const SegmentView segments = view_as_segments(problem_, view_, mirror_, starts, away_, slot);
      SegmentProgram program(segments.chain, most / slot, may_rerun_);
      search(segments, program, std::nullopt);
      for (const double price : kLinkPrices)
        if (may_move_) search(segments, program, price);
    }
  }

  // The most memory with which the chain's answer keeps the limit, by bisection, and some around it: more
  // memory is not always more.
  void search(const SegmentView& segments, SegmentProgram& program, std::optional<double> price) {
    program.set_link_price(price);
    Slots fits = -1, too_much = program.memory() + 1;
    while (too_much - fits > 1) {
      const Slots memory = std::midpoint(fits, too_much);
      const auto policy = program.best_policy(memory);
      (policy && !fits_with(segments, *policy) ? too_much : fits) = memory;
    }
    SegmentPolicy before;
    const Slots last = std::min(fits + kAround, program.memory());
    for (Slots memory = std::max<Slots>(0, fits - kAround); memory <= last; ++memory)
      if (auto policy = program.best_policy(memory); policy && *policy != before) {
        fits_with(segments, *policy);
        before = std::move(*policy);
      }
  }

  // No stage of the chain has room: what can be made again is dropped, what else may move does.
  void leave_with_all() {
    Plan plan = Plan::keep_all(problem_.gaps);
    if (may_rerun_)
      for (GapId g : mirror_.droppable())
        if (problem_.gaps[g].kind != GapKind::trailing) plan[g].action = Action::recompute;
    if (may_move_)
      for (GapId g : lasting_gaps(problem_, mirror_)) plan[g].action = Action::swap;
    candidates_.consider(plan);
    if (!may_move_) return;
    for (GapId g : mirror_.droppable())
      if (problem_.gaps[g].kind != GapKind::trailing) plan[g].action = Action::swap;
    candidates_.consider(plan);
  }

  // With the stays that the policy means, and with those that lowering chooses.
  bool fits_with(const SegmentView& segments, const SegmentPolicy& policy) {
    const Plan plan = plan_of(segments, policy);
    const bool kept = !candidates_.consider(plan);
    Plan free = plan;
    for (GapId g = 0; g < problem_.gaps.count(); ++g)
      if (problem_.gaps[g].kind != GapKind::trailing) free[g].stays.reset();
    return !candidates_.consider(free) || kept;
  }

  Plan plan_of(const SegmentView& segments, const SegmentPolicy& policy) {
    MirrorCounts counts(static_cast<std::size_t>(mirror_.turn()), 0);
    auto count = [&](GapId g) -> int& {
      return counts[static_cast<std::size_t>(problem_.program.version(problem_.gaps[g].version).writer)];
    };
    for (std::size_t k = 0; k < segments.parts.size(); ++k) {
      const OpRange ops = segments.parts[k].forward;
      const SegmentPolicy::Stage& stage = policy.stages[k];
      for (OpIndex j = ops.begin; j < ops.end; ++j) counts[static_cast<std::size_t>(j)] = stage.level;
      for (GapId g : segments.parts[k].dropped[stage.option]) count(g) = stage.level + 1;
    }
    std::vector<GapId> moved;
    for (std::size_t c = 1; c < policy.cuts.size(); ++c) {
      const SegmentPolicy::Cut& cut = policy.cuts[c];
      if (cut.level < 0) continue;
      for (GapId g : segments.crossing_gaps(0, c, problem_.gaps)) {
        count(g) = std::min(count(g), cut.level);
        if (cut.moved) moved.push_back(g);
      }
    }
    for (std::size_t k = 0; k < segments.parts.size(); ++k)
      if (segments.chain.stages[k].options[policy.stages[k].option].copies > 0)
        moved.insert(moved.end(), segments.parts[k].gaps.begin(), segments.parts[k].gaps.end());
    Plan plan = mirror_.plan(std::move(counts));
    moved.insert(moved.end(), away_.begin(), away_.end());
    for (GapId g : moved)
      if (plan[g].action == Action::keep) plan[g].action = Action::swap;
    return plan;
  }

  const PlanningProblem& problem_;
  const ChainView view_;
  Mirror mirror_;
  Candidates candidates_;
  std::vector<GapId> away_;  // of what cannot be made again
  const bool may_move_;
  const bool may_rerun_;
  const std::size_t most_;
  const Slots slots_;
};

PlanningResult plan_segments(const PlanningProblem& problem, const PlannerOptions& options, bool may_move) {
  PlanningResult kept = plan_keep(problem, options);
  if (!kept.infeasible || (!options.allow_recompute && !(may_move && options.allow_swap))) return kept;
  PlanningResult result = SegmentPlanner(problem, options, may_move).plan();
  if (result.infeasible && result.infeasible->obstacle != Obstacle::too_large) return kept;
  return result;
}

}  // namespace

PlanningResult plan_chain_dp(const PlanningProblem& problem, const PlannerOptions& options) {
  return plan_segments(problem, options, false);
}

PlanningResult plan_chain_dp_offload(const PlanningProblem& problem, const PlannerOptions& options) {
  return plan_segments(problem, options, true);
}

}  // namespace ebb
