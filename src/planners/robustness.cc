#include "planners/robustness.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "planners/judge.h"
#include "simulate/host_lane.h"
#include "simulate/replay.h"

namespace ebb {

std::optional<Robustness> judge_robustness(const PlanningProblem& problem, const Plan& plan, double spread,
                                           int cases, std::uint64_t seed) {
  const JudgedPlan judged = judge(problem, plan);
  if (judged.infeasible || judged.schedule.commands.empty()) return std::nullopt;
  std::vector<Nanoseconds> recorded;
  for (const Op& op : problem.program.ops()) recorded.push_back(problem.machine.op_time(op));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> off(-spread, spread);
  Robustness result;
  for (int i = 0; i < cases + 2; ++i) {
    std::vector<Nanoseconds> times = recorded;
    for (Nanoseconds& time : times) {
      const double factor = 1 + (i == 0 ? spread : i == 1 ? -spread : off(random));
      time = std::llround(static_cast<double>(time) * factor);
    }
    const Nanoseconds step = replay(problem.program, problem.gaps, problem.machine, judged.lowered,
                                    judged.schedule, {.op_times = times});
    const auto plain = static_cast<double>(plain_step(problem.program, problem.machine, times));
    const double ratio = plain > 0 ? static_cast<double>(step) / plain : 1;
    result.worst = std::max(result.worst, ratio);
    result.mean += ratio / (cases + 2);
  }
  return result;
}

}  // namespace ebb
