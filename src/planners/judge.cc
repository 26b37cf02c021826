#include "planners/judge.h"

#include <chrono>

#include "plan/lower.h"

namespace ebb {

JudgedPlan judge(const PlanningProblem& problem, const Plan& plan) {
  JudgedPlan judged;
  Lowerer lowerer(problem.program, problem.gaps);
  judged.infeasible = lowerer.lower(plan, problem.limit, judged.lowered);
  if (judged.infeasible) return judged;
  Simulator simulator(problem.program, problem.gaps, problem.machine);
  judged.step = simulator.run(judged.lowered, problem.limit, judged.timeline, judged.schedule);
  judged.infeasible = judged.step.infeasible;
  if (judged.infeasible) return judged;
  if (judged.schedule.commands.empty()) return judged;  // no steady order to check
  judged.violations = validate(problem.program, problem.gaps, judged.lowered, judged.schedule, problem.limit);
  return judged;
}

JudgedPlan plan_and_judge(const Planner& planner, const PlanningProblem& problem,
                          const PlannerOptions& options) {
  check_settings(planner, options);
  const auto start = std::chrono::steady_clock::now();
  PlanningResult result = planner.plan(problem, options);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  JudgedPlan judged;
  if (result.infeasible)
    judged.infeasible = result.infeasible;
  else
    judged = judge(problem, result.plan);
  judged.planning_seconds = elapsed.count();
  judged.evaluations = result.evaluations;
  judged.findings = std::move(result.findings);
  judged.rounds = std::move(result.rounds);
  judged.knowledge = std::move(result.knowledge);
  return judged;
}

}  // namespace ebb
