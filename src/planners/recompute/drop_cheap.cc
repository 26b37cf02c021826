#include <algorithm>
#include <array>
#include <numeric>

#include "machine/scale.h"
#include "planners/recompute/best_plan.h"
#include "planners/recompute/mirror.h"
#include "planners/recompute/recompute.h"

namespace ebb {
namespace {

constexpr std::array kSettings = {
    Setting{"cheap", 1, "cheap: at most this many times forward's mean time per byte made for backward"},
    Setting{"by-type", 0, "1: cheap is what is no convolution, matrix product or attention"},
};

struct Result {
  OpIndex maker = 0;
  Nanoseconds time = 0;
  Bytes bytes = 0;
  bool costly = false;
  double rate() const { return static_cast<double>(time) / static_cast<double>(bytes); }
};

// What forward makes for backward, by op, with what it takes to make it again if all else is there.
std::vector<Result> results_of(const PlanningProblem& problem, const Mirror& mirror, bool by_type) {
  const Program& program = problem.program;
  std::vector<Result> results(static_cast<std::size_t>(mirror.turn()));
  for (GapId g : mirror.droppable()) {
    const OpIndex maker = program.version(problem.gaps[g].version).writer;
    Result& result = results[static_cast<std::size_t>(maker)];
    result.maker = maker;
    result.bytes += program.block(problem.gaps[g].block).bytes;
    Nanoseconds time = 0;
    for (OpIndex op : mirror.recipe(g).ops) {
      time += problem.machine.op_time(program.op(op));
      if (by_type && op_kind(program.op(op).name) == OpKind::arithmetic) result.costly = true;
    }
    result.time = std::max(result.time, time);
  }
  return results;
}

}  // namespace

std::span<const Setting> drop_cheap_settings() { return kSettings; }

PlanningResult plan_drop_cheap(const PlanningProblem& problem, const PlannerOptions& options) {
  BestPlan best(problem, options);
  if (best.done()) return best.take();
  Mirror mirror(problem.program, problem.gaps);
  const bool by_type = value_of(kSettings[1], options) != 0;
  std::vector<Result> results = results_of(problem, mirror, by_type);
  // An op that makes nothing for backward runs again with whatever needs it.
  MirrorCounts passing(results.size(), 0);
  Result total;
  for (std::size_t i = 0; i < results.size(); ++i) {
    passing[i] = results[i].bytes == 0 ? 1 : 0;
    total.time += results[i].time;
    total.bytes += results[i].bytes;
  }
  const double most = value_of(kSettings[0], options) * (total.bytes > 0 ? total.rate() : 0);
  std::erase_if(results, [&](const Result& result) {
    return result.bytes == 0 || (by_type ? result.costly : result.rate() > most);
  });
  std::stable_sort(results.begin(), results.end(),
                   [](const Result& a, const Result& b) { return a.rate() < b.rate(); });
  auto fits_without = [&](std::size_t dropped) {
    MirrorCounts counts = passing;
    for (std::size_t i = 0; i < dropped; ++i) counts[static_cast<std::size_t>(results[i].maker)] = 1;
    return best.consider(mirror.plan(std::move(counts)));
  };
  std::size_t too_few = 0, enough = results.size();
  if (!fits_without(enough)) return best.take();
  while (enough - too_few > 1 && !best.done()) {
    const std::size_t middle = std::midpoint(too_few, enough);
    (fits_without(middle) ? enough : too_few) = middle;
  }
  return best.take();
}

}  // namespace ebb
