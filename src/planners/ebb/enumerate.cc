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

std::int64_t count_plans(const std::vector<Choice>& choices, const std::vector<OutlivingBlock>& outliving,
                         std::int64_t most) {
  std::int64_t plans = 1;
  for (const Choice& choice : choices) {
    plans *= static_cast<std::int64_t>(actions_of(choice).size());
    if (plans > most) return plans;
  }
  for (std::size_t i = 0; i < outliving.size() && plans <= most; ++i) plans *= 2;
  return plans;
}

Incumbent enumerate_plans(const PlanningProblem& problem, const std::vector<Choice>& choices,
                          const std::vector<OutlivingBlock>& outliving, Evaluator& evaluate) {
  std::vector<std::vector<Action>> actions;
  for (const Choice& choice : choices) actions.push_back(actions_of(choice));
  for (std::size_t i = 0; i < outliving.size(); ++i) actions.push_back({Action::keep, Action::recompute});
  std::vector<std::size_t> digits(actions.size(), 0);
  auto spell_out = [&] {
    Plan plan = Plan::keep_all(problem.gaps);
    for (std::size_t c = 0; c < choices.size(); ++c) plan[choices[c].gap] = untimed(actions[c][digits[c]]);
    for (std::size_t i = 0; i < outliving.size(); ++i)
      if (digits[choices.size() + i] != 0)
        keep_until(plan, problem.gaps, outliving[i].gap, outliving[i].until + 1);
    return plan;
  };
  Incumbent best{.plan = spell_out()};
  best.step = evaluate(best.plan);
  for (std::size_t d = 0; d < digits.size();) {
    digits[d] = (digits[d] + 1) % actions[d].size();
    if (digits[d] == 0) {
      ++d;
      continue;
    }
    d = 0;
    Incumbent tried{.plan = spell_out()};
    tried.step = evaluate(tried.plan);
    if (tried.beats(best)) best = std::move(tried);
  }
  return best;
}

}  // namespace ebb
