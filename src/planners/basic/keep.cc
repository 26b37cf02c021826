#include "plan/lower.h"
#include "planners/basic/basic.h"

namespace ebb {

PlanningResult plan_keep(const PlanningProblem& problem, const PlannerOptions&) {
  PlanningResult result{.plan = Plan::keep_all(problem.gaps)};
  LoweredPlan lowered;
  result.infeasible = Lowerer(problem.program, problem.gaps).lower(result.plan, problem.limit, lowered);
  return result;
}

}  // namespace ebb
