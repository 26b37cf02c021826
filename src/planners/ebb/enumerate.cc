#include "planners/ebb/enumerate.h"

namespace ebb {
namespace {

std::vector<Action> actions_of(const Choice& choice) {
  std::vector<Action> actions{Action::keep};
  if (choice.can_swap) actions.push_back(Action::swap);
  if (choice.can_recompute) actions.push_back(Action::recompute);
  return actions;
}

}  // namespace

std::int64_t count_plans(const std::vector<Choice>& choices, std::int64_t most) {
  std::int64_t plans = 1;
  for (const Choice& choice : choices) {
    plans *= static_cast<std::int64_t>(actions_of(choice).size());
    if (plans > most) break;
  }
  return plans;
}

Incumbent enumerate_plans(const PlanningProblem& problem, const std::vector<Choice>& choices,
                          Evaluator& evaluate) {
  std::vector<std::size_t> digits(choices.size(), 0);
  Plan plan = Plan::keep_all(problem.gaps);
  Incumbent best{.plan = plan, .step = evaluate(plan)};
  for (std::size_t c = 0; c < choices.size();) {
    const std::vector<Action> actions = actions_of(choices[c]);
    digits[c] = (digits[c] + 1) % actions.size();
    plan[choices[c].gap] = untimed(actions[digits[c]]);
    if (digits[c] == 0) {
      ++c;
      continue;
    }
    c = 0;
    const Incumbent tried{.plan = plan, .step = evaluate(plan)};
    if (tried.beats(best)) best = tried;
  }
  return best;
}

}  // namespace ebb
