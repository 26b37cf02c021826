#include "runtime/prepared_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "runtime/arena.h"

namespace ebb {
namespace {

constexpr int kMostTries = 6;
constexpr Bytes kPoolShare = 64;  // one part in this many stays free for what no plan knows, if it can

class Preparer {
 public:
  Preparer(const Program& program, const Machine& machine, const PreparationOptions& options)
      : program_(program), machine_(machine), options_(options), gaps_(program) {}

  Preparation prepare() {
    if (options_.plan) return with("given", options_.plan);
    if (Preparation found = with("keep", find_planner("keep").plan); found.plan) return found;
    const std::string name = options_.planner.empty() ? default_planner() : options_.planner;
    return with(name, find_planner(name).plan);
  }

 private:
  Preparation with(const std::string& name, const PlanFunction& plan) {
    for (const Bytes pool : {options_.capacity / kPoolShare, Bytes{0}})
      if (Preparation found = within(name, plan, pool); found.plan) return found;
    return {.plan = nullptr, .refusal = refusal_};
  }

  Preparation within(const std::string& name, const PlanFunction& plan, Bytes pool) {
    const Bytes capacity =
        (options_.capacity - pool - program_.info().unmanaged) / Arena::kAlignment * Arena::kAlignment;
    Bytes limit = options_.capacity - pool;
    for (int tries = 0; tries < kMostTries && limit > 0; ++tries) {
      JudgedPlan judged = judged_plan(plan, limit);
      if (judged.infeasible) {
        refusal_ = judged.infeasible->sentence(program_);
        return {};
      }
      if (judged.schedule.commands.empty() || !judged.violations.empty()) {
        refusal_ = judged.violations.empty() ? fmt::format("{}: no steady order", name)
                                             : judged.violations.front().sentence;
        limit -= limit / 50;
        continue;
      }
      const layout::ArenaProblem arena =
          layout::arena_problem(program_, gaps_, judged.lowered, judged.schedule);
      const layout::Layout layout = layout::pack(arena.problem, {.capacity = capacity});
      if (layout.fits) return ready(name, std::move(judged), arena, layout);
      refusal_ = fmt::format("{}: packed, the plan takes more than {} bytes", name, capacity);
      limit -= std::max(limit / 50, Bytes{1});
    }
    return {};
  }

  JudgedPlan judged_plan(const PlanFunction& plan, Bytes limit) const {
    const PlanningProblem problem{program_, gaps_, machine_, limit};
    const auto start = std::chrono::steady_clock::now();
    const PlanningResult result = plan(problem, options_.planning);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    JudgedPlan judged;
    if (result.infeasible)
      judged.infeasible = result.infeasible;
    else
      judged = judge(problem, result.plan);
    judged.planning_seconds = elapsed.count();
    return judged;
  }

  Preparation ready(const std::string& name, JudgedPlan judged, const layout::ArenaProblem& arena,
                    const layout::Layout& layout) const {
    auto plan = std::make_shared<PreparedPlan>(program_);
    plan->planner = name;
    plan->offsets = layout::planned_offsets(program_, gaps_, judged.lowered, arena, layout);
    plan->lowered = std::move(judged.lowered);
    plan->schedule = std::move(judged.schedule);
    plan->step = judged.step;
    plan->timeline = std::move(judged.timeline);
    plan->planning_seconds = judged.planning_seconds;
    return {.plan = std::move(plan), .refusal = {}};
  }

  const Program& program_;
  const Machine& machine_;
  const PreparationOptions& options_;
  Gaps gaps_;
  std::string refusal_;
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
