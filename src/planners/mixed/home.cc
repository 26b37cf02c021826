#include <algorithm>

#include "planners/mixed/mixed.h"
#include "planners/mixed/swarm.h"

namespace ebb {
namespace {

constexpr double kMillion = 1e6;

Choices list_choices(const std::vector<FeatureMap>& maps, const PlannerOptions& options) {
  Choices choices;
  for (const FeatureMap& map : maps) {
    std::vector<Action> actions = {Action::keep};
    if (options.allow_swap) actions.push_back(Action::swap);
    if (options.allow_recompute && map.remakable) actions.push_back(Action::recompute);
    choices.push_back(std::move(actions));
  }
  return choices;
}

std::int64_t setting(std::size_t i, const PlannerOptions& options) {
  return std::max(std::int64_t{0}, static_cast<std::int64_t>(value_of(kHomeSettings[i], options)));
}

SwarmOptions swarm_options(const Program& program, const PlannerOptions& options) {
  SwarmOptions swarm{.particles = setting(0, options),
                     .iterations = setting(1, options),
                     .evaluations = options.evaluations,
                     .scatter = value_of(kHomeSettings[2], options) != 0,
                     .seed = options.seed,
                     .threads = options.threads,
                     .deadline_seconds = options.deadline_seconds,
                     .progress = options.progress};
  if (const double budget = value_of(kHomeSettings[3], options); swarm.evaluations == 0 && budget > 0)
    swarm.evaluations =
        std::max(std::int64_t{1}, static_cast<std::int64_t>(budget * kMillion / program.op_count()));
  return swarm;
}

}  // namespace

PlanningResult plan_home(const PlanningProblem& problem, const PlannerOptions& options) {
  const std::vector<FeatureMap> maps = find_feature_maps(problem.program, problem.gaps);
  PolicyJudge judge(problem, maps);
  const Policy keep(maps.size(), Action::keep);
  PlanningResult result;
  if (judge(keep).fits() || maps.empty()) {
    result.plan = judge.plan();
    result.infeasible = judge.infeasible();
    result.evaluations = 1;
    return result;
  }
  SwarmOptions swarm = swarm_options(problem.program, options);
  swarm.evaluations = std::max(std::int64_t{0}, swarm.evaluations - (swarm.evaluations > 2 ? 2 : 0));
  SwarmResult found = search_swarm(problem, maps, list_choices(maps, options), swarm);
  if (!found.score.fits()) {
    const Score kept = judge(keep);
    if (kept < found.score) found.best = keep;
  }
  judge(found.best);
  result.plan = judge.plan();
  result.infeasible = judge.infeasible();
  result.evaluations = found.evaluations + judge.count();
  result.rounds = std::move(found.rounds);
  result.findings = {{"feature maps", static_cast<double>(maps.size()), ""},
                     {"simulations", static_cast<double>(found.simulated + judge.simulated()), ""},
                     {"evaluations of Alg. 3 as printed", found.printed_evaluations, ""}};
  return result;
}

}  // namespace ebb
