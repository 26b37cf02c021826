#include "planners/ebb/portfolio.h"

#include <algorithm>
#include <array>

namespace ebb {
namespace {

constexpr std::array kLinkPrices = {0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0};
constexpr double kMiddlingPrice = 0.3;

// Planners that answer in milliseconds however long the program; those that are not built in are passed over.
constexpr std::array<std::string_view, 13> kQuickPlanners = {
    "drop-cheap",      "autoswap-swdoa", "autoswap-doa",  "capuchin", "dtr",
    "dtr-eq",          "dtr-local",      "superneurons",  "greedy",   "dynprog",
    "checkpoint-sqrt", "geeps",          "sublinear-cost"};
// Planners that do so for programs that are not too long.
constexpr std::array<std::string_view, 12> kOtherPlanners = {
    "excess-area",       "autoswap-aoa",           "autoswap-wdoa",  "autoswap-bo", "sublinear", "recursive",
    "superneurons-swap", "superneurons-recompute", "vdnn-threshold", "vdnn++",      "tflms",     "ondemand"};
constexpr OpIndex kNotTooLong = 2'500;  // ops

bool is_asked(std::string_view name, const Program& program) {
  auto in = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  return in(kQuickPlanners) || (program.op_count() <= kNotTooLong && in(kOtherPlanners));
}

// Everything that may leave does, over the link where possible: the least that any plan needs at each op.
Plan without_all(const PlanningProblem& problem, const std::vector<Choice>& choices) {
  Plan plan = Plan::keep_all(problem.gaps);
  for (const Choice& choice : choices)
    plan[choice.gap] = untimed(choice.can_swap ? Action::swap : Action::recompute);
  return plan;
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
                                       const std::vector<Choice>& choices, LocalSearch& search,
                                       LocalSearch* with_the_dead, Evaluator& evaluate,
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
  if (options.start) {
    add(*options.start, "the given plan");
    if (starts.empty())
      if (Incumbent made = search.complete(without_timing(*options.start), {.link = kMiddlingPrice});
          made.feasible())
        starts.push_back({std::move(made), "the given plan", kMiddlingPrice});
  }
  Incumbent failed;
  for (const double link : kLinkPrices) {
    if (!options.allow_swap && link > kLinkPrices.front()) break;
    Incumbent made = search.construct({.link = link});
    if (made.feasible())
      starts.push_back({std::move(made), "prices", std::max(link, 0.05)});
    else
      failed = std::move(made);
    if (done()) break;
    if (!with_the_dead) continue;
    made = with_the_dead->construct_with_the_dead({.link = link});
    if (made.feasible()) starts.push_back({std::move(made), "the dead", std::max(link, 0.05), true});
    if (done()) break;
  }
  PlannerOptions quick = options;
  quick.progress = nullptr;
  quick.settings.clear();
  quick.evaluations = 0;
  quick.start.reset();
  for (const Planner& planner : planners()) {
    if (done()) break;
    if (!is_asked(planner.name, problem.program)) continue;
    PlanningResult result = planner.plan(problem, quick);
    if (result.infeasible) continue;
    add(without_timing(result.plan), std::string(planner.name));
    add(std::move(result.plan), std::string(planner.name));
  }
  if (starts.empty())
    if (Incumbent made = search.complete(without_all(problem, choices), {}); made.feasible())
      starts.push_back({std::move(made), "moving everything", kMiddlingPrice});
  if (starts.empty()) starts.push_back({std::move(failed), "prices", kMiddlingPrice});
  std::stable_sort(starts.begin(), starts.end(), [](const StartingPoint& a, const StartingPoint& b) {
    return a.incumbent.beats(b.incumbent);
  });
  return starts;
}

}  // namespace ebb
