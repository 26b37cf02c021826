#include "planners/ebb/footprint.h"

#include <algorithm>
#include <chrono>
#include <future>

namespace ebb {
namespace {

constexpr double kAsGood = 1.001;       // a retimed plan that takes no longer than this is not made again
constexpr double kLeastSeconds = 1e-3;  // seconds: 0 would mean that there is no deadline

}  // namespace

PackedPlan pack_plan(const PlanningProblem& problem, const Plan& plan, Nanoseconds step_time,
                     const layout::MakePlan& make_plan, double deadline_seconds, int threads) {
  const auto begin = std::chrono::steady_clock::now();
  const auto with_what_is_left = [&](layout::FitOptions options) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (deadline_seconds > 0)
      options.deadline_seconds = std::max(kLeastSeconds, deadline_seconds - spent.count());
    return options;
  };
  const layout::FitProblem fit{problem.program, problem.gaps, problem.machine, problem.limit};
  layout::FitOptions options{
      .budget = 8000, .deadline_seconds = deadline_seconds, .effort = layout::Effort::usual};
  layout::FittedPlan fitted = layout::fit_plan(fit, plan, with_what_is_left(options));
  const auto is_enough = [&](const layout::FittedPlan& made) {
    return made.fits && static_cast<double>(made.step_time) <= kAsGood * static_cast<double>(step_time);
  };
  options.excess = fitted.excess;
  // The same plan with more effort, beside plans for less: if that is enough, they were for nothing.
  std::future<layout::FittedPlan> persistent;
  if (!fitted.fits)
    persistent =
        std::async(threads > 1 && make_plan ? std::launch::async : std::launch::deferred, [&, options] {
          layout::FitOptions most = options;
          most.effort = layout::Effort::last;
          return layout::fit_plan(fit, plan, with_what_is_left(most));
        });
  if (persistent.valid() && (threads <= 1 || !make_plan)) fitted = persistent.get();
  if (make_plan && !is_enough(fitted)) {
    options.make_plan = make_plan;
    layout::FittedPlan again = layout::fit_plan(fit, plan, with_what_is_left(options));
    if (persistent.valid()) fitted = persistent.get();
    if (again.fits && !is_enough(fitted) && (!fitted.fits || again.step_time < fitted.step_time))
      fitted = std::move(again);
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
