#include "runtime/prepared_plan.h"

#include <fmt/format.h>

#include <chrono>

#include "layout/fit_plan.h"
#include "runtime/arena.h"

namespace ebb {
namespace {

constexpr Bytes kPoolShare = 64;  // one part in this many stays free for what no plan knows, if it can

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Preparer {
 public:
  Preparer(const Program& program, const Machine& machine, const PreparationOptions& options)
      : program_(program), machine_(machine), options_(options), gaps_(program) {}

  Preparation prepare() {
    Preparation found = choose();
    found.cut_short = cut_short_;
    return found;
  }

 private:
  Preparation choose() {
    if (options_.plan) return with("given", options_.plan);
    if (Preparation found = with("keep", find_planner("keep").plan); found.plan) return found;
    const std::string name = options_.planner.empty() ? default_planner() : options_.planner;
    return with(name, find_planner(name).plan);
  }

  Preparation with(const std::string& name, const PlanFunction& plan) {
    const auto start = std::chrono::steady_clock::now();
    for (const Bytes pool : {options_.capacity / kPoolShare, Bytes{0}}) {
      layout::FittedPlan fitted = fit(plan, pool);
      if (fitted.fits) return ready(name, std::move(fitted), seconds_since(start));
      cut_short_ = cut_short_ || seconds_since(start) >= options_.fit_seconds;
    }
    if (refusal_.empty())
      refusal_ = fmt::format("{}: packed, no plan keeps {} bytes", name, options_.capacity);
    return {.refusal = refusal_};
  }

  // What the plan leaves free lies above the footprint.
  layout::FittedPlan fit(const PlanFunction& plan, Bytes pool) {
    const auto make = [&](Bytes limit) -> std::optional<Plan> {
      const auto start = std::chrono::steady_clock::now();
      PlanningResult result = plan({program_, gaps_, machine_, limit}, options_.planning);
      const double deadline = options_.planning.deadline_seconds;
      cut_short_ = cut_short_ || (deadline > 0 && seconds_since(start) >= deadline);
      if (!result.infeasible) return std::move(result.plan);
      refusal_ = result.infeasible->sentence(program_);
      return std::nullopt;
    };
    refusal_.clear();
    const std::optional<Plan> first = make(options_.capacity - pool);
    if (!first) return {};
    layout::FittedPlan fitted = layout::fit_plan({program_, gaps_, machine_, options_.capacity}, *first,
                                                 {.alignment = Arena::kAlignment,
                                                  .reserve = pool,
                                                  .deadline_seconds = options_.fit_seconds,
                                                  .make_plan = make});
    if (fitted.fits && fitted.schedule.commands.empty()) fitted.fits = false;  // no steady order to follow
    return fitted;
  }

  Preparation ready(const std::string& name, layout::FittedPlan fitted, double seconds) const {
    auto plan = std::make_shared<PreparedPlan>(program_);
    plan->planner = name;
    const Bytes ground = fitted.layout.footprint + options_.ground <= options_.capacity ? options_.ground : 0;
    plan->offsets =
        layout::planned_offsets(program_, gaps_, fitted.lowered, fitted.arena, fitted.layout, ground);
    plan->lowered = std::move(fitted.lowered);
    plan->schedule = std::move(fitted.schedule);
    plan->arena = std::move(fitted.arena);
    plan->layout = std::move(fitted.layout);
    plan->step = fitted.step;
    plan->predicted_step = fitted.step_time;
    plan->timeline = std::move(fitted.timeline);
    plan->planning_seconds = seconds;
    return {.plan = std::move(plan)};
  }

  const Program& program_;
  const Machine& machine_;
  const PreparationOptions& options_;
  Gaps gaps_;
  std::string refusal_;
  bool cut_short_ = false;
};

}  // namespace

std::string default_planner() {
  // The best there is comes first.
  for (const std::string_view name : {"ebb", "ondemand"})
    for (const Planner& planner : planners())
      if (planner.name == name) return std::string(name);
  return "keep";
}

Preparation prepare_plan(const Program& program, const Machine& machine, const PreparationOptions& options) {
  return Preparer(program, machine, options).prepare();
}

}  // namespace ebb
