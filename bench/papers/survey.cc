#include "survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "planners/judge.h"
#include "trace/load.h"

namespace ebb {
namespace {

using Json = nlohmann::ordered_json;

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

Survey::Survey(std::span<const char* const> names, PlannerOptions options, std::string file)
    : options_(std::move(options)), file_(std::move(file)) {
  for (const char* name : names) planners_.push_back(&find_planner(name));
  if (!file_.empty()) read();
}

void Survey::add(const std::string& step, const Program& program, const Machine& machine) {
  const Gaps gaps(program);
  std::map<std::string, SurveyRow>& rows = tables_[{step, machine.name}];
  for (const Planner* planner : planners_) {
    const std::string name(planner->name);
    if (rows.contains(name)) continue;
    rows[name] = measure(*planner, program, gaps, machine);
    if (!file_.empty()) write(step, machine.name, name);
  }
}

void Survey::copy_rows(const std::string& step, const std::string& from, const std::string& to,
                       std::span<const char* const> planners) {
  for (const char* planner : planners) tables_[{step, to}][planner] = row(step, from, planner);
}

SurveyRow Survey::measure(const Planner& planner, const Program& program, const Gaps& gaps,
                          const Machine& machine) const {
  SurveyRow row;
  for (const int percent : kSurveyPercents) {
    const PlanningProblem problem{program, gaps, machine, program.peak_demand() * percent / 100};
    const std::clock_t start = std::clock();
    const PlanningResult result = planner.plan(problem, options_);
    row.longest_planning = std::max(row.longest_planning, cpu_seconds(start));
    JudgedPlan judged;
    judged.infeasible = result.infeasible;
    if (!judged.infeasible) judged = judge(problem, result.plan);
    if (judged.infeasible) {
      row.cells.push_back({0, judged.infeasible->sentence(program)});
      continue;
    }
    row.cells.push_back({judged.step.ratio(), ""});
    if (!judged.violations.empty() || judged.step.peak_demand > problem.limit) ++row.broken;
  }
  return row;
}

void Survey::read() {
  std::ifstream file(file_);
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) continue;  // cut off when a run was stopped: measured again
    SurveyRow row{.cells = {}, .longest_planning = json.at("cpu_s"), .broken = json.at("broken")};
    for (const Json& cell : json.at("cells")) row.cells.push_back({cell.at(0), cell.at(1)});
    tables_[{json.at("step"), json.at("machine")}][json.at("planner")] = row;
  }
}

void Survey::write(const std::string& step, const std::string& machine, const std::string& planner) const {
  const SurveyRow& measured = row(step, machine, planner);
  Json cells = Json::array();
  for (const SurveyCell& cell : measured.cells) cells.push_back({cell.ratio, cell.reason});
  std::ofstream(file_, std::ios::app) << Json{{"step", step},
                                              {"machine", machine},
                                              {"planner", planner},
                                              {"cells", cells},
                                              {"cpu_s", measured.longest_planning},
                                              {"broken", measured.broken}}
                                             .dump()
                                      << "\n";
}

std::vector<std::pair<std::string, std::string>> Survey::tables() const {
  std::vector<std::pair<std::string, std::string>> keys;
  for (const auto& [key, rows] : tables_) keys.push_back(key);
  return keys;
}

void Survey::print_tables() const {
  for (const auto& [step, machine] : tables()) print_table(step, machine);
}

void Survey::print_table(const std::string& step, const std::string& machine) const {
  fmt::print("\n### {} on {}\n\n| planner |", step, machine);
  for (const int percent : kSurveyPercents) fmt::print(" {} % |", percent);
  fmt::print("\n|---|");
  for ([[maybe_unused]] const int percent : kSurveyPercents) fmt::print("---:|");
  std::string reasons;  // the first of each planner
  for (const Planner* planner : planners_) {
    const std::vector<SurveyCell>& cells = row(step, machine, std::string(planner->name)).cells;
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

bool Survey::sound() const {
  for (const auto& [key, rows] : tables_)
    for (const auto& [name, row] : rows)
      if (row.broken > 0) return false;
  return true;
}

void Survey::print_counts() const {
  std::size_t cells = 0;
  std::int64_t plans = 0, broken = 0;
  for (const auto& [key, rows] : tables_)
    for (const auto& [name, row] : rows) {
      cells += row.cells.size();
      plans += std::count_if(row.cells.begin(), row.cells.end(),
                             [](const SurveyCell& cell) { return cell.ratio > 0; });
      broken += row.broken;
    }
  fmt::print("- {} cells, {} with a plan, {} with a reason; {} plans break a rule or the limit.\n", cells,
             plans, static_cast<std::int64_t>(cells) - plans, broken);
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
          sum.add(rows.at(ours).cells[k].ratio, rows.at(other).cells[k].ratio);
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
    auto longest = [&](const std::string& step) {
      double seconds = 0;
      for (const auto& [key, rows] : tables_)
        if (step.empty() || key.first == step) seconds = std::max(seconds, rows.at(name).longest_planning);
      return seconds;
    };
    fmt::print("\n| {} | {:.3f} |", name, longest(""));
    for (const char* step : steps) fmt::print(" {:.3f} |", longest(step));
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
