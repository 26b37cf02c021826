#include "planners/ebb/portfolio.h"

#include <algorithm>
#include <array>

namespace ebb {
namespace {

// The most promising first, then in turns.
constexpr std::array kLinkPrices = {0.3, 1.0, 0.05, 5.0, 0.0, 0.1, 0.5, 2.0, 0.2, 0.02};
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
                                       const SearchBudget& budget) {
  std::vector<StartingPoint> starts;
  std::size_t best = 0;
  auto join = [&](StartingPoint start) {
    starts.push_back(std::move(start));
    if (starts.size() > 1 && !starts.back().incumbent.beats(starts[best].incumbent)) return;
    best = starts.size() - 1;
    if (budget.round) budget.round(0, starts[best].incumbent);
  };
  auto add = [&](Plan plan, std::string from) {
    StepResult step = evaluate(plan);
    if (!step.infeasible) join({{std::move(plan), std::move(step)}, std::move(from), kMiddlingPrice});
  };
  auto done = [&] {
    if (budget.stop && budget.stop()) return true;
    if (starts.empty()) return false;
    const StepResult& step = starts[best].incumbent.step;
    return step.step_time <= step.plain_time;
  };
  if (options.start) {
    add(*options.start, "the given plan");
    if (starts.empty())
      if (Incumbent made = search.complete(without_timing(*options.start), {.link = kMiddlingPrice});
          made.feasible())
        join({std::move(made), "the given plan", kMiddlingPrice});
  }
  Incumbent failed;
  for (const double link : kLinkPrices) {
    if (!options.allow_swap && link != kLinkPrices.front()) break;
    Incumbent made = search.construct({.link = link});
    if (made.feasible())
      join({std::move(made), "prices", std::max(link, 0.05)});
    else
      failed = std::move(made);
    if (done()) break;
    if (!with_the_dead) continue;
    made = with_the_dead->construct_with_the_dead({.link = link});
    if (made.feasible()) join({std::move(made), "the dead", std::max(link, 0.05), true});
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
      join({std::move(made), "moving everything", kMiddlingPrice});
  if (starts.empty()) starts.push_back({std::move(failed), "prices", kMiddlingPrice});
  std::stable_sort(starts.begin(), starts.end(), [](const StartingPoint& a, const StartingPoint& b) {
    return a.incumbent.beats(b.incumbent);
  });
  return starts;
}

}  // namespace ebb
