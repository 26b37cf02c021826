#include "report/step_view.h"

namespace ebb::report {
namespace {

constexpr std::int64_t kPackingBudget = 300'000;  // steps of about a microsecond
constexpr double kPackingSeconds = 5;
constexpr double kFittingSeconds = 10;
constexpr Nanoseconds kTolerance = 100;  // a plan fitted by address may be a 100th slower than judged

// Packs what is resident, as low as it goes.
void pack_as_scheduled(const Program& program, const Gaps& gaps, const Schedule& schedule, StepView& view) {
  if (schedule.commands.empty()) return;
  const layout::ArenaProblem arena = layout::arena_problem(program, gaps, view.lowered, schedule);
  layout::Layout layout;
  if (!arena.meets_itself) {
    layout = layout::pack(arena.problem, {.budget = kPackingBudget, .deadline_seconds = kPackingSeconds});
    view.packed = true;
    view.footprint = layout.footprint + program.info().unmanaged;
    view.within_limit = view.limit == 0 || view.footprint <= view.limit;
  }
  view.residencies = timed_residencies(arena, layout, schedule, view.timeline, view.step.step_time);
}

void take(layout::FittedPlan fitted, StepView& view) {
  view.lowered = std::move(fitted.lowered);
  view.step = fitted.step;
  view.timeline = std::move(fitted.timeline);
  view.packed = true;
  view.within_limit = true;
  view.footprint = fitted.footprint;
  view.residencies =
      timed_residencies(fitted.arena, fitted.layout, fitted.schedule, view.timeline, view.step.step_time);
}

}  // namespace

StepView plain_view(const Program& program, const Gaps& gaps, Machine machine) {
  machine.follow_issue = 0;  // there is no plan
  const PlanningProblem problem{program, gaps, machine, program.peak_demand()};
  JudgedPlan judged = judge(problem, Plan::keep_all(gaps));
  StepView view{.title = "without a limit",
                .machine = machine,
                .lowered = std::move(judged.lowered),
                .step = judged.step,
                .timeline = std::move(judged.timeline)};
  pack_as_scheduled(program, gaps, judged.schedule, view);
  return view;
}

StepView planned_view(const PlanningProblem& problem, const std::string& planner, const JudgedPlan& judged,
                      const layout::MakePlan& make_plan) {
  StepView view{.title = planner,
                .planner = planner,
                .machine = problem.machine,
                .limit = problem.limit,
                .lowered = judged.lowered,
                .step = judged.step,
                .timeline = judged.timeline,
                .planning_seconds = judged.planning_seconds,
                .evaluations = judged.evaluations,
                .findings = judged.findings,
                .rounds = judged.rounds};
  pack_as_scheduled(problem.program, problem.gaps, judged.schedule, view);
  if (view.packed && view.within_limit) return view;
  layout::FittedPlan fitted =
      layout::fit_plan({problem.program, problem.gaps, problem.machine, problem.limit}, judged.lowered.plan,
                       {.deadline_seconds = kFittingSeconds, .make_plan = make_plan});
  if (!fitted.fits) return view;
  view.time_by_address = fitted.step_time;
  if (fitted.step.step_time <= view.step.step_time + view.step.step_time / kTolerance)
    take(std::move(fitted), view);
  return view;
}

StepView followed_view(const Program& program, const PreparedPlan& plan, const Machine& machine,
                       Bytes limit) {
  StepView view{.title = plan.planner,
                .planner = plan.planner,
                .machine = machine,
                .limit = limit,
                .lowered = plan.lowered,
                .step = plan.step,
                .timeline = plan.timeline,
                .packed = true,
                .footprint = plan.layout.footprint + program.info().unmanaged,
                .time_by_address = plan.predicted_step,
                .planning_seconds = plan.planning_seconds};
  view.residencies =
      timed_residencies(plan.arena, plan.layout, plan.schedule, view.timeline, view.step.step_time);
  return view;
}

}  // namespace ebb::report
