// The swap planners on every recorded step, machine and limit: step time relative to a plain step, or a dash
// where there is no plan. Fails if the mix of scores is worse than one of them anywhere.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <set>

#include "autoswap_inputs.h"
#include "machine/presets.h"
#include "trace/load.h"

namespace {

using namespace ebb;
using namespace ebb::papers;

constexpr std::array kPlanners = {"ondemand",      "autoswap-doa",   "autoswap-aoa",
                                  "autoswap-wdoa", "autoswap-swdoa", "autoswap-bo",
                                  "tflms",         "geeps",          "excess-area"};
constexpr std::array kLimits = {90, 80, 70, 60, 50, 40, 30};

struct Totals {
  std::map<std::string, double> longest;  // by step: CPU seconds
  int plans = 0;
  int none = 0;
};

struct Result {
  std::map<std::string, Totals> totals;
  int cells = 0;
  int worse = 0;
};

void run(const std::string& name, const Program& program, const Machine& machine, Result& result) {
  const Gaps gaps(program);
  std::map<int, std::map<std::string, double>> ratios;
  for (const char* planner_name : kPlanners)
    for (const int percent : kLimits) {
      const PlanningProblem problem{program, gaps, machine, program.peak_demand() / 100 * percent};
      const std::clock_t start = std::clock();
      const PlanningResult planned = find_planner(planner_name).plan(problem, {});
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      Totals& totals = result.totals[planner_name];
      totals.longest[name] = std::max(totals.longest[name], seconds);
      JudgedPlan judged;
      judged.infeasible = planned.infeasible;
      if (!planned.infeasible) judged = judge(problem, planned.plan);
      if (!judged.violations.empty()) fmt::print("INVALID {} {} {}\n", name, planner_name, percent);
      (judged.infeasible ? totals.none : totals.plans) += 1;
      if (!judged.infeasible) ratios[percent][planner_name] = judged.step.ratio();
    }
  fmt::print("\n{} on {}: plain step {:.1f} ms, peak {:.0f} MiB\n{:<16}", name, machine.name,
             milliseconds(program.compute_time()), mebibytes(program.peak_demand()), "");
  for (const int percent : kLimits) fmt::print("{:>7} %", percent);
  fmt::print("\n");
  for (const char* planner_name : kPlanners) {
    fmt::print("{:<16}", planner_name);
    for (const int percent : kLimits)
      fmt::print("{:>9}", ratios[percent].contains(planner_name)
                              ? fmt::format("{:.3f}", ratios[percent][planner_name])
                              : "-");
    fmt::print("\n");
  }
  for (const int percent : kLimits)
    for (std::size_t i = 1; i <= 4; ++i) {
      if (!ratios[percent].contains(kPlanners[i])) continue;
      ++result.cells;
      if (!ratios[percent].contains("autoswap-bo") ||
          ratios[percent]["autoswap-bo"] > ratios[percent][kPlanners[i]])
        ++result.worse;
    }
}

}  // namespace

int main() {
  const auto traces = find_traces();
  if (!traces) return 0;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(*traces))
    if (entry.path().extension() == ".gz") files.insert(entry.path());
  Result result;
  for (const std::filesystem::path& file : files) {
    const Program program = load_program(file.string());
    for (const char* machine : {"h200", "v100-pcie3", "a100-15.75"})
      run(file.stem().stem().string(), program, find_preset(machine), result);
  }
  fmt::print(
      "\nlongest planning time in CPU ms, single thread, over all machines and limits\n{:<16}{:>6}{:>8}",
      "planner", "plans", "no plan");
  for (const auto& [step, seconds] : result.totals["ondemand"].longest) fmt::print("{:>14}", step);
  fmt::print("\n");
  for (const auto& [name, totals] : result.totals) {
    fmt::print("{:<16}{:>6}{:>8}", name, totals.plans, totals.none);
    for (const auto& [step, seconds] : totals.longest) fmt::print("{:>14.1f}", 1e3 * seconds);
    fmt::print("\n");
  }
  fmt::print("\nautoswap-bo is worse than a single score in {} of {} comparisons\n", result.worse,
             result.cells);
  return result.worse == 0 ? 0 : 1;
}
