#include "learning/dqn_planner.h"

#include "learning/torch_trainer.h"
#include "planners/dqn/learning.h"

namespace ebb::learning {
namespace {

PlanningResult plan(const PlanningProblem& problem, const PlannerOptions& options) {
  return dqn::plan_dqn(problem, options, make_torch_trainer);
}

}  // namespace

bool register_dqn() {
  if (!has_torch()) return false;
  register_planner({"dqn", "[DQN]",
                    "learns by trying: Q-values of offloading and removing, from the graph of the step", plan,
                    dqn::kSettings});
  return true;
}

}  // namespace ebb::learning
