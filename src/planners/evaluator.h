// What a search asks again and again: how long does a step take under this plan? Lowers and simulates with
// everything prepared once. Not thread-safe: one per thread.
#pragma once

#include "plan/lower.h"
#include "planners/planner.h"
#include "simulate/simulator.h"

namespace ebb {

class Evaluator {
 public:
  // REQUIRES: what the problem refers to outlives the evaluator.
  explicit Evaluator(const PlanningProblem& problem)
      : ops_(problem.program.op_count()),
        limit_(problem.limit),
        lowerer_(problem.program, problem.gaps),
        simulator_(problem.program, problem.gaps, problem.machine) {}

  // `infeasible` is set if the plan cannot be carried out within the limit.
  StepResult operator()(const Plan& plan);
  // The same, and what happened when.
  StepResult operator()(const Plan& plan, Timeline& timeline);
  // Plans that replay more ops than this are infeasible; 0: none is for that.
  void give_up_beyond(std::size_t replays) { lowerer_.give_up_beyond(replays); }
  // The last plan that was evaluated, lowered; meaningless if it was infeasible.
  const LoweredPlan& lowered() const { return lowered_; }
  std::int64_t count() const { return count_; }
  // Ops that all plans evaluated so far ran, replays included: what evaluating them cost.
  std::int64_t op_steps() const { return op_steps_; }

 private:
  // Lowers into lowered_.
  std::optional<Infeasible> lower(const Plan& plan);

  OpIndex ops_;
  Bytes limit_;
  Lowerer lowerer_;
  Simulator simulator_;
  LoweredPlan lowered_;
  Schedule schedule_;
  std::int64_t count_ = 0;
  std::int64_t op_steps_ = 0;
};

}  // namespace ebb
