#include "planners/recompute/best_plan.h"
#include "planners/recompute/online_walk.h"
#include "planners/recompute/recompute.h"

namespace ebb {
namespace {

PlanningResult plan_online(const PlanningProblem& problem, const PlannerOptions& options,
                           LossMeasure measure) {
  BestPlan best(problem, options);
  if (best.done()) return best.take();
  PlanningResult online = OnlineWalk(problem, measure).run();
  if (online.infeasible) return online;
  best.consider(online.plan);
  return best.take();
}

}  // namespace

PlanningResult plan_dtr(const PlanningProblem& problem, const PlannerOptions& options) {
  return plan_online(problem, options, LossMeasure::neighbourhood);
}

PlanningResult plan_dtr_eq(const PlanningProblem& problem, const PlannerOptions& options) {
  return plan_online(problem, options, LossMeasure::classes);
}

PlanningResult plan_dtr_local(const PlanningProblem& problem, const PlannerOptions& options) {
  return plan_online(problem, options, LossMeasure::local);
}

}  // namespace ebb
