#include "planners/chain/chain_report.h"

#include <algorithm>

#include "planners/chain/chain_schedule.h"

namespace ebb {

bool offload_more(const Chain& chain, Bytes missing, OffloadSet& offloaded) {
  bool added = false;
  for (std::size_t i = 0; i < chain.size() && (!added || missing > 0); ++i) {
    if (offloaded[i] || chain.x(i) == 0) continue;
    offloaded[i] = added = true;
    missing -= chain.x(i);
  }
  return added;
}

void report_chain(const ChainView& view, const PlanningProblem& problem, const OffloadSet& offloaded,
                  Nanoseconds step_time, PlanningResult& result) {
  const Bytes memory = problem.limit - view.base;
  const Nanoseconds bound = view.chain.lower_bound(memory);
  const auto add = [&](const char* name, auto value, const char* unit) {
    result.findings.push_back({name, static_cast<double>(value), unit});
  };
  const auto ratio = [&](Nanoseconds time) {
    return static_cast<double>(time) / static_cast<double>(std::max<Nanoseconds>(bound, 1));
  };
  add("chain layers", view.chain.size(), "");
  add("chain lower bound", bound, "ns");
  if (const auto makespan = chain_makespan(view.chain, memory, offloaded)) {
    add("chain makespan", *makespan, "ns");
    add("chain ratio", ratio(*makespan), "");
  }
  if (step_time > 0) add("step ratio", ratio(step_time), "");
}

}  // namespace ebb
