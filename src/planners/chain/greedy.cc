#include <algorithm>

#include "planners/chain/candidates.h"
#include "planners/chain/chain_planners.h"
#include "planners/chain/chain_report.h"
#include "planners/chain/chain_schedule.h"

namespace ebb {

PlanningResult plan_greedy(const PlanningProblem& problem, const PlannerOptions& options) {
  if (auto kept = plan_without_swaps(problem, options)) return *kept;
  const ChainView view = view_as_chain(problem.program, problem.gaps, problem.machine);
  OffloadSet offloaded = greedy_offloads(view.chain, problem.limit - view.base);
  Candidates candidates(problem);
  // Blocks do not come and go with the layers exactly, so that the chain may ask for less than the step does.
  while (const auto failure = candidates.consider(plan_of(view, problem.gaps, offloaded)))
    if (!offload_more(view.chain, failure->needed - failure->available, offloaded)) break;
  PlanningResult result = candidates.result();
  report_chain(view, problem, offloaded, candidates.best_time(), result);
  return result;
}

}  // namespace ebb
