// Plans packed: for every recorded step, planner and limit, the footprint of the fitted plan ÷ the peak load
// of the plan as it was made, and what that costs in step time. The plan must fit into its own load, as if
// there were no more memory than that; if it does not, into the limit it was made for. SmartPool, cnmem and
// PyTorch's allocator get the schedule as it was made.
//
//   bench_fit [PLANNER[,PLANNER…] [PERCENT[,PERCENT…] [STEP]]]        STEP: part of a name, or a file
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
#include "machine/presets.h"
#include "planners/judge.h"
#include "trace/load.h"

namespace {

using namespace ebb;
using layout::CachingAllocator;
namespace fs = std::filesystem;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Totals {
  int plans = 0, fitted = 0, for_less = 0;
  double worst_ratio = 0, worst_seconds = 0;
  double slowest = 0;  // packed ÷ planned step time
};

const char* name_of(layout::Retiming retiming) {
  constexpr const char* kNames[] = {"none", "by address", "out at once", "half as early", "when needed"};
  return kNames[static_cast<int>(retiming)];
}

void show(const std::string& name, const Program& program, const Planner& planner, int percent,
          Totals& totals) {
  const Gaps gaps(program);
  const Machine machine = find_preset("h200");
  const Bytes limit = program.peak_demand() / 100 * percent;
  const JudgedPlan judged = plan_and_judge(planner, {program, gaps, machine, limit}, {});
  if (judged.infeasible || judged.schedule.commands.empty()) return;
  const layout::Problem as_made =
      layout::arena_problem(program, gaps, judged.lowered, judged.schedule).problem;
  const Bytes load = layout::peak_load(as_made);
  const Bytes room = load + program.info().unmanaged;
  const auto make_plan = [&](Bytes less) -> std::optional<Plan> {
    PlanningResult result = planner.plan({program, gaps, machine, less}, {});
    if (result.infeasible) return std::nullopt;
    return std::move(result.plan);
  };
  const double start = cpu_seconds();
  const layout::FitOptions options{.deadline_seconds = 0, .make_plan = make_plan};
  layout::FittedPlan fit = layout::fit_plan({program, gaps, machine, room}, judged.lowered.plan, options);
  if (!fit.fits) fit = layout::fit_plan({program, gaps, machine, limit}, judged.lowered.plan, options);
  const double seconds = cpu_seconds() - start;
  const auto ratio = [&](Bytes footprint) {
    return fmt::format("{:.4f}", static_cast<double>(footprint) / static_cast<double>(load));
  };
  const double slower = static_cast<double>(fit.step_time) /
                        static_cast<double>(std::max<Nanoseconds>(1, judged.step.step_time));
  fmt::print(
      "{:<28}{:>5} %{:>9}{:>10.1f}{:>9}{:>8.3f}{:>9.3f}{:>9.3f}  {:<14}{:>7.4f}{:>9}{:>9}{:>9}{:>9}\n", name,
      percent, as_made.buffers.size(), static_cast<double>(load) / static_cast<double>(kMiB),
      fit.fits ? ratio(fit.layout.footprint) : "-", seconds, judged.step.ratio(),
      fit.fits ? static_cast<double>(fit.step_time) / static_cast<double>(judged.step.plain_time) : 0.0,
      fit.fits ? name_of(fit.retiming) : "does not fit",
      static_cast<double>(fit.planned_for) / static_cast<double>(room),
      ratio(layout::pack_smartpool(as_made, layout::Fit::kBest).footprint),
      ratio(layout::cnmem_footprint(as_made)),
      ratio(layout::caching_allocator_footprint(as_made, CachingAllocator::Segments::kFixed)),
      ratio(layout::caching_allocator_footprint(as_made, CachingAllocator::Segments::kExpandable)));
  std::fflush(stdout);
  ++totals.plans;
  if (!fit.fits) return;
  ++totals.fitted;
  totals.for_less += fit.planned_for < room;
  totals.worst_ratio =
      std::max(totals.worst_ratio, static_cast<double>(fit.layout.footprint) / static_cast<double>(load));
  totals.worst_seconds = std::max(totals.worst_seconds, seconds);
  totals.slowest = std::max(totals.slowest, slower);
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path folder = fs::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / "traces";
  if (!fs::exists(folder)) {
    fmt::print("skipped: {} is not there\n", folder.lexically_normal().string());
    return 0;
  }
  const std::string wanted = argc > 3 ? argv[3] : "";
  std::map<std::string, Program> programs;
  if (fs::is_regular_file(wanted)) programs.emplace(fs::path(wanted).stem().string(), load_program(wanted));
  for (const fs::path& sub : {folder, folder / "papers"})
    for (const auto& entry : fs::directory_iterator(sub))
      if (const std::string name = entry.path().stem().stem().string();
          entry.path().extension() == ".gz" && name.find(wanted) != std::string::npos)
        programs.emplace(name, load_program(entry.path().string()));
  for (const std::string& planner : split(argc > 1 ? argv[1] : "ondemand")) {
    fmt::print(
        "\nEvery recorded step under {} on h200: footprint / load of the plan (512-byte alignment), CPU "
        "seconds to fit "
        "it, step time ÷ plain step as planned and as packed\n",
        planner);
    fmt::print("{:<28}{:>7}{:>9}{:>10}{:>9}{:>8}{:>9}{:>9}  {:<14}{:>7}{:>9}{:>9}{:>9}{:>9}\n", "step",
               "limit", "buffers", "load MiB", "ebb", "CPU s", "planned", "packed", "retiming", "for",
               "SP best", "cnmem", "PyTorch", "PT exp");
    Totals totals;
    for (const auto& [name, program] : programs)
      for (const std::string& percent : split(argc > 2 ? argv[2] : "90,80,70,60,50"))
        show(name, program, find_planner(planner), std::stoi(percent), totals);
    fmt::print(
        "{} plans, {} fitted, {} of them made again for less; worst ratio {:.4f}, longest {:.3f} s, packed "
        "at most "
        "{:.3f} x as slow as planned\n",
        totals.plans, totals.fitted, totals.for_less, totals.worst_ratio, totals.worst_seconds,
        totals.slowest);
  }
  return 0;
}
