#include <algorithm>

#include "planners/chain/candidates.h"
#include "planners/chain/chain_planners.h"
#include "planners/chain/chain_report.h"
#include "planners/chain/chain_schedule.h"
#include "planners/chain/slots.h"

namespace ebb {
namespace {

constexpr int kMostRounds = 8;

}  // namespace

PlanningResult plan_dynprog(const PlanningProblem& problem, const PlannerOptions& options) {
  if (auto kept = plan_without_swaps(problem, options)) return *kept;
  const ChainView view = view_as_chain(problem.program, problem.gaps, problem.machine);
  const auto slots = std::max<Slots>(1, static_cast<Slots>(value_of(kDynProgSlots, options)));
  Candidates candidates(problem);
  OffloadSet offloaded;
  // Blocks do not come and go with the layers exactly: where the step needs more than the chain said, the
  // chain gets less memory.
  Bytes memory = problem.limit - view.base;
  for (int round = 0; round < kMostRounds && memory > 0 && !candidates.found(); ++round) {
    const auto solution = solve_in_slots(view.chain, memory, std::min(slots, memory));
    if (!solution) break;
    offloaded = solution->offloaded;
    const auto failure = candidates.consider(plan_of(view, problem.gaps, offloaded));
    if (failure) memory -= std::max<Bytes>(1, failure->needed - failure->available);
  }
  if (!candidates.found()) {  // no memory left for rounding
    offloaded = greedy_offloads(view.chain, problem.limit - view.base);
    while (const auto failure = candidates.consider(plan_of(view, problem.gaps, offloaded)))
      if (!offload_more(view.chain, failure->needed - failure->available, offloaded)) break;
  }
  PlanningResult result = candidates.result();
  report_chain(view, problem, offloaded, candidates.best_time(), result);
  return result;
}

}  // namespace ebb
