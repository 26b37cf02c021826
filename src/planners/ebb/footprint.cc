#include "planners/ebb/footprint.h"

namespace ebb {
namespace {

constexpr double kAsGood = 1.001;  // a retimed plan that takes no longer than this is not made again

}  // namespace

PackedPlan pack_plan(const PlanningProblem& problem, const Plan& plan, Nanoseconds step_time,
                     const layout::MakePlan& make_plan, double deadline_seconds) {
  const layout::FitProblem fit{problem.program, problem.gaps, problem.machine, problem.limit};
  layout::FitOptions options{.budget = 8000, .deadline_seconds = deadline_seconds};
  layout::FittedPlan fitted = layout::fit_plan(fit, plan, options);
  const double enough = kAsGood * static_cast<double>(step_time);
  if (make_plan && (!fitted.fits || static_cast<double>(fitted.step_time) > enough)) {
    options.make_plan = make_plan;
    layout::FittedPlan again = layout::fit_plan(fit, plan, options);
    if (again.fits && (!fitted.fits || again.step_time < fitted.step_time)) fitted = std::move(again);
  }
  if (!fitted.fits) return {.fits = false, .plan = plan};
  const bool as_given = fitted.retiming == layout::Retiming::none && fitted.planned_for == problem.limit;
  return {.fits = true,
          .plan = as_given ? plan : std::move(fitted.lowered.plan),
          .step_time = fitted.step_time,
          .footprint = fitted.footprint,
          .planned_for = fitted.planned_for};
}

}  // namespace ebb
