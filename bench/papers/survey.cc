#include "survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "planners/judge.h"
#include "trace/load.h"

namespace ebb {
namespace {

double cpu_seconds(std::clock_t since) { return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC; }

struct Comparison {
  double ours = 0, theirs = 0;
  int both = 0, only_ours = 0, only_theirs = 0, slower = 0;

  void add(double mine, double other) {
    only_ours += mine > 0 && other == 0 ? 1 : 0;
    only_theirs += mine == 0 && other > 0 ? 1 : 0;
    if (mine == 0 || other == 0) return;
    ++both;
    slower += mine > other ? 1 : 0;
    ours += mine;
    theirs += other;
  }
};

}  // namespace

Survey::Survey(std::span<const char* const> names, PlannerOptions options) : options_(std::move(options)) {
  for (const char* name : names) planners_.push_back(&find_planner(name));
}

void Survey::add(const std::string& step, const Program& program, const Machine& machine) {
  const Gaps gaps(program);
  std::map<std::string, Row>& rows = tables_[{step, machine.name}];
  for (const int percent : kSurveyPercents) {
    const PlanningProblem problem{program, gaps, machine, program.peak_demand() * percent / 100};
    for (const Planner* planner : planners_)
      rows[std::string(planner->name)].push_back(measure(step, *planner, problem));
  }
  print_table(step, machine.name);
  std::fflush(stdout);
}

SurveyCell Survey::measure(const std::string& step, const Planner& planner, const PlanningProblem& problem) {
  const std::clock_t start = std::clock();
  const PlanningResult result = planner.plan(problem, options_);
  for (const std::string& where : {std::string(), step}) {
    double& longest = seconds_[{std::string(planner.name), where}];
    longest = std::max(longest, cpu_seconds(start));
  }
  ++cells_;
  if (result.infeasible) return {0, result.infeasible->sentence(problem.program)};
  const JudgedPlan judged = judge(problem, result.plan);
  if (judged.infeasible) return {0, judged.infeasible->sentence(problem.program)};
  ++plans_;
  if (!judged.violations.empty() || judged.step.peak_demand > problem.limit) ++broken_;
  return {judged.step.ratio(), ""};
}

std::vector<std::pair<std::string, std::string>> Survey::tables() const {
  std::vector<std::pair<std::string, std::string>> keys;
  for (const auto& [key, rows] : tables_) keys.push_back(key);
  return keys;
}

void Survey::print_table(const std::string& step, const std::string& machine) const {
  fmt::print("\n### {} on {}\n\n| planner |", step, machine);
  for (const int percent : kSurveyPercents) fmt::print(" {} % |", percent);
  fmt::print("\n|---|");
  for ([[maybe_unused]] const int percent : kSurveyPercents) fmt::print("---:|");
  std::string reasons;  // the first of each planner
  for (const Planner* planner : planners_) {
    const Row& cells = row(step, machine, std::string(planner->name));
    fmt::print("\n| {} |", planner->name);
    for (const SurveyCell& cell : cells)
      fmt::print(" {} |", cell.ratio > 0 ? fmt::format("{:.3f}", cell.ratio) : "-");
    const auto first =
        std::find_if(cells.begin(), cells.end(), [](const SurveyCell& cell) { return cell.ratio == 0; });
    if (first != cells.end())
      reasons += fmt::format("- {} at {} %: {}\n", planner->name, kSurveyPercents[first - cells.begin()],
                             first->reason);
  }
  fmt::print("\n\n{}", reasons);
}

void Survey::print_counts() const {
  fmt::print("- {} cells, {} with a plan, {} with a reason; {} plans break a rule or the limit.\n", cells_,
             plans_, cells_ - plans_, broken_);
}

void Survey::print_comparison(const std::string& ours, std::span<const char* const> others,
                              const std::string& machine) const {
  fmt::print("\n{}{} against others, step time ÷ plain step, mean over the cells where both have a plan:\n\n",
             ours, machine.empty() ? "" : " on " + machine);
  fmt::print(
      "| against | both | only {0} / only the other | {0} | the other | {0} slower in | {0} not worse "
      "on average |\n|---|---:|---:|---:|---:|---:|---|\n",
      ours);
  for (const char* other : others) {
    if (other == ours) continue;
    Comparison sum;
    for (const auto& [key, rows] : tables_)
      for (std::size_t k = 0; k < std::size(kSurveyPercents); ++k)
        if (machine.empty() || key.second == machine)
          sum.add(rows.at(ours)[k].ratio, rows.at(other)[k].ratio);
    const int both = std::max(1, sum.both);
    fmt::print("| {} | {} | {} / {} | {:.3f} | {:.3f} | {} | {} |\n", other, sum.both, sum.only_ours,
               sum.only_theirs, sum.ours / both, sum.theirs / both, sum.slower,
               sum.ours <= sum.theirs ? "yes" : "**no**");
  }
}

void Survey::print_planning_times(std::span<const char* const> steps) const {
  fmt::print("\nLongest planning, CPU seconds, single thread:\n\n| planner | all steps |");
  for (const char* step : steps) fmt::print(" {} |", step);
  fmt::print("\n|---|---:|");
  for ([[maybe_unused]] const char* step : steps) fmt::print("---:|");
  for (const Planner* planner : planners_) {
    const std::string name(planner->name);
    fmt::print("\n| {} | {:.3f} |", name, seconds_.at({name, ""}));
    for (const char* step : steps) fmt::print(" {:.3f} |", seconds_.at({name, step}));
  }
  fmt::print("\n");
}

std::optional<Program> load_shared_step(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path file = fs::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / (path + ".json.gz");
  if (!fs::exists(file)) {
    fmt::print("skipped: {} is not there\n", path);
    return std::nullopt;
  }
  return load_program(file.string());
}

}  // namespace ebb
