// Plans packed: for every recorded step, planner and limit, the footprint of the fitted plan ÷ the peak load
// of the plan as it was made, and what that costs in step time. The plan must fit into its own load, as if
// there were no more memory than that; if it does not, into a 1000th more; if not, into the limit it was made
// for. SmartPool, cnmem and PyTorch's allocator get the schedule as it was made.
//
//   bench_fit [PLANNER[,PLANNER…] [PERCENT[,PERCENT…] [STEP [EVALUATIONS]]]]
//
// PLANNER may be `all`. Of more than three planners only plans above 1.001 are shown, and the summary. STEP
// is a file, or parts of the names of recorded steps (`traces/unet,papers/sp-`).
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "../comma_list.h"
#include "layout/fit_plan.h"
#include "layout/heuristics.h"
#include "layout/online.h"
#include "learning/dqn_planner.h"
#include "machine/presets.h"
#include "planners/judge.h"
#include "trace/load.h"

namespace {

using namespace ebb;
using layout::CachingAllocator;
namespace fs = std::filesystem;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

constexpr double kGoal = 1.001;

// One plan, fitted.
struct Cell {
  std::string step;
  int percent = 0;
  std::size_t buffers = 0;
  Bytes load = 0;                  // of the plan as it was made
  Bytes footprint = 0;             // 0: does not fit
  double seconds = 0;              // CPU
  double planned = 0, packed = 0;  // step time ÷ plain step
  bool is_for_less = false;
  layout::FittedPlan fit = {};
  layout::Problem as_made = {};

  double ratio() const { return static_cast<double>(footprint) / static_cast<double>(load); }
  bool reaches_goal() const { return footprint > 0 && ratio() <= kGoal; }
};

const char* name_of(layout::Retiming retiming) {
  constexpr const char* kNames[] = {"none", "by address", "out at once", "half as early", "when needed"};
  return kNames[static_cast<int>(retiming)];
}

std::optional<Cell> fit(const std::string& name, const Program& program, const Planner& planner, int percent,
                        const PlannerOptions& planning) {
  const Gaps gaps(program);
  const Machine machine = find_preset("h200");
  const Bytes limit = program.peak_demand() / 100 * percent;
  const JudgedPlan judged = plan_and_judge(planner, {program, gaps, machine, limit}, planning);
  if (judged.infeasible || judged.schedule.commands.empty()) return std::nullopt;
  Cell cell{.step = name, .percent = percent};
  cell.as_made = layout::arena_problem(program, gaps, judged.lowered, judged.schedule).problem;
  cell.buffers = cell.as_made.buffers.size();
  cell.load = layout::peak_load(cell.as_made);
  const Bytes unmanaged = program.info().unmanaged;
  const auto make_plan = [&](Bytes less) -> std::optional<Plan> {
    PlanningResult result = planner.plan({program, gaps, machine, less}, planning);
    if (result.infeasible) return std::nullopt;
    return std::move(result.plan);
  };
  const layout::FitOptions options{.deadline_seconds = 0, .make_plan = make_plan};
  const double start = cpu_seconds();
  Bytes room = 0;
  for (const Bytes most : {cell.load + unmanaged,
                           static_cast<Bytes>(kGoal * static_cast<double>(cell.load)) + unmanaged, limit}) {
    room = most;
    cell.fit = layout::fit_plan({program, gaps, machine, room}, judged.lowered.plan, options);
    if (cell.fit.fits) break;
  }
  cell.seconds = cpu_seconds() - start;
  cell.planned = judged.step.ratio();
  if (!cell.fit.fits) return cell;
  cell.footprint = cell.fit.layout.footprint;
  cell.packed = static_cast<double>(cell.fit.step_time) / static_cast<double>(judged.step.plain_time);
  cell.is_for_less = cell.fit.planned_for < room;
  return cell;
}

void print_heading() {
  fmt::print("{:<28}{:>7}{:>9}{:>10}{:>9}{:>8}{:>9}{:>9}  {:<14}{:>7}{:>9}{:>9}{:>9}{:>9}\n", "step", "limit",
             "buffers", "load MiB", "ebb", "CPU s", "planned", "packed", "retiming", "for", "SP best",
             "cnmem", "PyTorch", "PT exp");
}

void print_row(const Cell& cell, Bytes unmanaged) {
  const auto ratio = [&](Bytes footprint) {
    return fmt::format("{:.4f}", static_cast<double>(footprint) / static_cast<double>(cell.load));
  };
  const bool fits = cell.footprint > 0;
  fmt::print(
      "{:<28}{:>5} %{:>9}{:>10.1f}{:>9}{:>8.3f}{:>9.3f}{:>9.3f}  {:<14}{:>7.4f}{:>9}{:>9}{:>9}{:>9}\n",
      cell.step, cell.percent, cell.buffers, static_cast<double>(cell.load) / static_cast<double>(kMiB),
      fits ? ratio(cell.footprint) : "-", cell.seconds, cell.planned, cell.packed,
      fits ? name_of(cell.fit.retiming) : "does not fit",
      static_cast<double>(cell.fit.planned_for) / static_cast<double>(cell.load + unmanaged),
      ratio(layout::pack_smartpool(cell.as_made, layout::Fit::kBest).footprint),
      ratio(layout::cnmem_footprint(cell.as_made)),
      ratio(layout::caching_allocator_footprint(cell.as_made, CachingAllocator::Segments::kFixed)),
      ratio(layout::caching_allocator_footprint(cell.as_made, CachingAllocator::Segments::kExpandable)));
  std::fflush(stdout);
}

// Of all plans of one planner.
struct Totals {
  int plans = 0, fitted = 0, reach_goal = 0, as_scheduled = 0, for_less = 0;
  double worst_ratio = 0, longest = 0, slowest = 0;
  double packed = 0, planned = 0;  // sums over fitted plans

  void add(const Cell& cell) {
    ++plans;
    longest = std::max(longest, cell.seconds);
    if (cell.footprint == 0) return;
    ++fitted;
    reach_goal += cell.reaches_goal();
    as_scheduled += cell.fit.retiming == layout::Retiming::none && !cell.is_for_less;
    for_less += cell.is_for_less;
    worst_ratio = std::max(worst_ratio, cell.ratio());
    slowest = std::max(slowest, cell.packed / cell.planned);
    packed += cell.packed;
    planned += cell.planned;
  }
};

std::map<std::string, Program> read_steps(const fs::path& folder, const std::string& wanted) {
  std::map<std::string, Program> programs;
  if (fs::is_regular_file(wanted)) programs.emplace(fs::path(wanted).stem().string(), load_program(wanted));
  const std::vector<std::string> parts = wanted.empty() ? std::vector<std::string>{""} : split(wanted);
  for (const fs::path& sub : {folder, folder / "papers"}) {
    for (const auto& entry : fs::directory_iterator(sub)) {
      const std::string path = entry.path().string();
      const bool is_wanted = std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
        return path.find(part) != std::string::npos;
      });
      if (is_wanted && entry.path().extension() == ".gz")
        programs.emplace(entry.path().stem().stem().string(), load_program(path));
    }
  }
  return programs;
}

void print_totals(std::string_view planner, const Totals& totals) {
  fmt::print("{:<23}{:>6}{:>11}{:>13}{:>10}{:>8}{:>9.4f}{:>9.3f}{:>11.3f}{:>9.3f}\n", planner, totals.plans,
             totals.reach_goal, totals.as_scheduled, totals.for_less, totals.plans - totals.fitted,
             totals.worst_ratio, totals.longest, totals.planned > 0 ? totals.packed / totals.planned : 0.0,
             totals.slowest);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path folder = fs::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / "traces";
  if (!fs::exists(folder)) {
    fmt::print("skipped: {} is not there\n", folder.lexically_normal().string());
    return 0;
  }
  std::vector<std::string> names = split(argc > 1 ? argv[1] : "ondemand");
  learning::register_dqn();
  if (names.front() == "all") {
    names.clear();
    for (const Planner& planner : planners()) names.emplace_back(planner.name);
  }
  const bool brief = names.size() > 3;
  const std::map<std::string, Program> programs = read_steps(folder, argc > 3 ? argv[3] : "");
  const PlannerOptions planning{.evaluations = argc > 4 ? std::stoll(argv[4]) : 0};
  fmt::print(
      "Every recorded step under a plan on h200: footprint / load of the plan (512-byte alignment), CPU "
      "seconds to fit it, step time ÷ plain step as planned and as packed\n");
  std::vector<std::pair<std::string, Totals>> summary;
  for (const std::string& name : names) {
    fmt::print("\n{}\n", name);
    if (!brief) print_heading();
    Totals& totals = summary.emplace_back(name, Totals{}).second;
    for (const auto& [step, program] : programs)
      for (const std::string& percent : split(argc > 2 ? argv[2] : "90,80,70,60,50")) {
        const std::optional<Cell> cell = fit(step, program, find_planner(name), std::stoi(percent), planning);
        if (!cell) continue;
        totals.add(*cell);
        if (!brief || !cell->reaches_goal()) print_row(*cell, program.info().unmanaged);
      }
  }
  fmt::print("\n{:<23}{:>6}{:>11}{:>13}{:>10}{:>8}{:>9}{:>9}{:>11}{:>9}\n", "planner", "plans", "<= 1.001",
             "as scheduled", "for less", "do not", "worst", "CPU s", "packed ÷", "at most");
  for (const auto& [name, totals] : summary) print_totals(name, totals);
  return 0;
}
