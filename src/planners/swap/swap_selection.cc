#include "planners/swap/swap_selection.h"

#include <algorithm>
#include <numeric>

namespace ebb {
namespace {

OpIndex highest(const std::vector<Bytes>& demand) {
  return static_cast<OpIndex>(std::max_element(demand.begin(), demand.end()) - demand.begin());
}

std::vector<GapId> ranked(const std::vector<Candidate>& candidates, const ScoreWeights& weights) {
  std::vector<std::pair<double, GapId>> order;
  for (const Candidate& candidate : candidates)
    order.emplace_back(-std::inner_product(weights.begin(), weights.end(), candidate.scores.begin(), 0.0),
                       candidate.gap);
  std::sort(order.begin(), order.end());
  std::vector<GapId> gaps;
  for (const auto& [score, gap] : order) gaps.push_back(gap);
  return gaps;
}

}  // namespace

SwapSelector::SwapSelector(const PlanningProblem& problem, Bytes smallest)
    : problem_(problem), finder_(problem), smallest_(smallest) {
  State state = start();
  across_peak_ = candidates(highest(state.demand), state);
  for (const Candidate& candidate : across_peak_)
    if (candidate.bytes >= smallest_) swap(candidate.gap, state);
  load_min_ = state.demand[static_cast<std::size_t>(highest(state.demand))];
}

SwapSelector::State SwapSelector::start() const {
  State state{
      {}, problem_.program.load(), std::vector<bool>(static_cast<std::size_t>(problem_.gaps.count()))};
  for (OpIndex j = 0; j < problem_.program.op_count(); ++j)
    state.demand.push_back(problem_.program.demand(j));
  return state;
}

void SwapSelector::swap(GapId g, State& state) const {
  const Gap& gap = problem_.gaps[g];
  const Bytes bytes = problem_.program.block(gap.block).bytes;
  const OpIndex n = problem_.program.op_count();
  for (OpIndex j = gap.from + 1; j < gap.to; ++j) {
    state.demand[static_cast<std::size_t>(j % n)] -= bytes;
    state.load[static_cast<std::size_t>(j % n)] -= bytes;
  }
  state.swapped[static_cast<std::size_t>(g)] = true;
}

std::vector<Candidate> SwapSelector::candidates(OpIndex peak, const State& state) const {
  std::vector<Candidate> found = finder_.find(peak, smallest_, state.swapped, state.load);
  if (found.empty()) found = finder_.find(peak, 0, state.swapped, state.load);
  standardise(found);
  return found;
}

std::vector<GapId> SwapSelector::select(const ScoreWeights& weights) const {
  State state = start();
  const bool once = problem_.limit >= load_min_;
  bool first = true;
  for (OpIndex peak = highest(state.demand); state.demand[static_cast<std::size_t>(peak)] > problem_.limit;
       peak = highest(state.demand)) {
    const std::vector<Candidate> found = first ? across_peak_ : candidates(peak, state);
    first = false;
    if (found.empty()) break;
    for (const GapId g : ranked(found, weights)) {
      swap(g, state);
      const OpIndex watched = once ? highest(state.demand) : peak;
      if (state.demand[static_cast<std::size_t>(watched)] <= problem_.limit) break;
    }
  }
  std::vector<GapId> swapped;
  for (GapId g = 0; g < problem_.gaps.count(); ++g)
    if (state.swapped[static_cast<std::size_t>(g)]) swapped.push_back(g);
  return swapped;
}

Plan schedule_swaps(const PlanningProblem& problem, const std::vector<GapId>& swapped) {
  Plan plan = Plan::keep_all(problem.gaps);
  for (const GapId g : swapped) {
    plan[g].action = Action::swap;
    plan[g].out_after = problem.gaps[g].from;
  }
  return plan;
}

}  // namespace ebb
