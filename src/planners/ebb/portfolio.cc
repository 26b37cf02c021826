#include "planners/ebb/portfolio.h"

#include <algorithm>
#include <array>

namespace ebb {
namespace {

constexpr std::array kLinkPrices = {0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0};
constexpr double kMiddlingPrice = 0.3;

// Planners that answer in milliseconds and are best somewhere; those that are not built in are passed over.
constexpr std::array<std::string_view, 12> kQuickPlanners = {
    "drop-cheap", "excess-area", "autoswap-swdoa", "autoswap-doa", "capuchin",        "dtr",
    "dtr-eq",     "dtr-local",   "superneurons",   "greedy",       "checkpoint-sqrt", "geeps"};

bool is_quick(std::string_view name) {
  return std::find(kQuickPlanners.begin(), kQuickPlanners.end(), name) != kQuickPlanners.end();
}

Plan without_timing(Plan plan) {
  for (Decision& decision : plan.decisions) {
    auto stays = std::move(decision.stays);
    decision = untimed(decision.action);
    decision.stays = std::move(stays);
  }
  return plan;
}

}  // namespace

std::vector<StartingPoint> find_starts(const PlanningProblem& problem, const PlannerOptions& options,
                                       LocalSearch& search, Evaluator& evaluate,
                                       const std::function<bool()>& stop) {
  std::vector<StartingPoint> starts;
  auto add = [&](Plan plan, std::string from) {
    StepResult step = evaluate(plan);
    if (!step.infeasible)
      starts.push_back({{std::move(plan), std::move(step)}, std::move(from), kMiddlingPrice});
  };
  auto done = [&] {
    return stop() || std::any_of(starts.begin(), starts.end(), [](const StartingPoint& start) {
             return start.incumbent.step.step_time <= start.incumbent.step.plain_time;
           });
  };
  if (options.start) add(*options.start, "the given plan");
  Incumbent failed;
  for (const double link : kLinkPrices) {
    if (!options.allow_swap && link > kLinkPrices.front()) break;
    Incumbent made = search.construct({.link = link});
    if (made.feasible())
      starts.push_back({std::move(made), "prices", std::max(link, 0.05)});
    else
      failed = std::move(made);
    if (done()) break;
  }
  PlannerOptions quick = options;
  quick.progress = nullptr;
  quick.settings.clear();
  for (const Planner& planner : planners()) {
    if (done()) break;
    if (!is_quick(planner.name)) continue;
    PlanningResult result = planner.plan(problem, quick);
    if (result.infeasible) continue;
    add(without_timing(result.plan), std::string(planner.name));
    add(std::move(result.plan), std::string(planner.name));
  }
  if (starts.empty()) starts.push_back({std::move(failed), "prices", kMiddlingPrice});
  std::stable_sort(starts.begin(), starts.end(), [](const StartingPoint& a, const StartingPoint& b) {
    return a.incumbent.beats(b.incumbent);
  });
  return starts;
}

}  // namespace ebb
