// Every planner that only swaps, on every recorded step, three machines and seven limits: step times,
// planning times, and whether what the papers claim holds. The same numbers as `ebb compare` prints.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "machine/presets.h"
#include "planners/judge.h"
#include "trace/load.h"

namespace {

using namespace ebb;
namespace fs = std::filesystem;

constexpr const char* kSteps[] = {"densenet121", "gpt2", "lstm", "mobilenet_v2", "resnet50", "unet", "vgg16"};
constexpr const char* kMachines[] = {"h200", "v100-pcie3", "a100-15.75"};
constexpr int kPercents[] = {90, 80, 70, 60, 50, 40, 30};
constexpr const char* kNames[] = {"ondemand",       "autoswap-doa", "autoswap-aoa",   "autoswap-wdoa",
                                  "autoswap-swdoa", "autoswap-bo",  "greedy",         "dynprog",
                                  "vdnn",           "vdnn++",       "vdnn-threshold", "tflms",
                                  "geeps",          "excess-area"};

struct Cell {
  double ratio = 0;  // to a plain step; 0: no plan
  std::string reason;
};

using Row = std::vector<Cell>;

double cpu_seconds(std::clock_t since) { return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC; }

class Survey {
 public:
  Survey() {
    for (const char* name : kNames)
      for (const Planner& planner : planners())
        if (planner.name == name) compared_.push_back(&planner);
  }

  void add(const std::string& step, const Program& program, const Machine& machine) {
    const Gaps gaps(program);
    std::map<std::string, Row> rows;
    for (const int percent : kPercents) {
      const PlanningProblem problem{program, gaps, machine, program.peak_demand() / 100 * percent};
      for (const Planner* planner : compared_)
        rows[std::string(planner->name)].push_back(run(step, *planner, problem));
    }
    print(step, machine.name, rows);
    check_mix(rows);
    for (const auto& [name, row] : rows) compare("dynprog", name, rows);
  }

  void print_claims() const {
    fmt::print("\n## Claims\n\n- {} cells, {} with a plan; {} plans break a rule or the limit.\n", cells_,
               plans_, broken_);
    if (mixes_ > 0)
      fmt::print(
          "- autoswap-bo is not slower than the best of the four scores in {} of {} cells where one has a "
          "plan.\n",
          mixes_ - worse_mixes_, mixes_);
    fmt::print("\ndynprog against the others, step time relative to a plain step:\n\n");
    fmt::print(
        "| against | both have a plan | only dynprog / only the other | dynprog | the other | not worse on "
        "average |\n");
    fmt::print("|---|---:|---:|---:|---:|---|\n");
    for (const auto& [name, c] : comparisons_)
      fmt::print("| {} | {} | {} / {} | {:.3f} | {:.3f} | {} |\n", name, c.both, c.only_ours, c.only_theirs,
                 c.ours / std::max(1, c.both), c.theirs / std::max(1, c.both),
                 c.ours <= c.theirs ? "yes" : "**no**");
    fmt::print(
        "\nLongest planning, CPU seconds:\n\n| planner | all steps | resnet50 | gpt2 "
        "|\n|---|---:|---:|---:|\n");
    for (const Planner* planner : compared_) {
      const std::string name(planner->name);
      fmt::print("| {} | {:.3f} | {:.3f} | {:.3f} |\n", name, seconds_.at({name, ""}),
                 seconds_.at({name, "resnet50"}), seconds_.at({name, "gpt2"}));
    }
  }

  bool sound() const { return broken_ == 0; }

 private:
  struct Pair {
    double ours = 0;
    double theirs = 0;
    int both = 0;
    int only_ours = 0;
    int only_theirs = 0;
  };

  Cell run(const std::string& step, const Planner& planner, const PlanningProblem& problem) {
    const std::clock_t start = std::clock();
    const PlanningResult result = planner.plan(problem, {});
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

  void print(const std::string& step, const std::string& machine,
             const std::map<std::string, Row>& rows) const {
    fmt::print("\n### {} on {}\n\n| planner |", step, machine);
    for (const int percent : kPercents) fmt::print(" {} % |", percent);
    fmt::print("\n|---|");
    for ([[maybe_unused]] const int percent : kPercents) fmt::print("---:|");
    std::string reasons;  // the first of each planner
    for (const Planner* planner : compared_) {
      const Row& row = rows.at(std::string(planner->name));
      fmt::print("\n| {} |", planner->name);
      for (const Cell& cell : row)
        fmt::print(" {} |", cell.ratio > 0 ? fmt::format("{:.3f}", cell.ratio) : "-");
      const auto first =
          std::find_if(row.begin(), row.end(), [](const Cell& cell) { return cell.ratio == 0; });
      if (first != row.end())
        reasons +=
            fmt::format("- {} at {} %: {}\n", planner->name, kPercents[first - row.begin()], first->reason);
    }
    fmt::print("\n\n{}", reasons);
  }

  void check_mix(const std::map<std::string, Row>& rows) {
    if (!rows.contains("autoswap-bo")) return;
    for (std::size_t k = 0; k < std::size(kPercents); ++k) {
      double best = 0;
      for (const char* name : {"autoswap-doa", "autoswap-aoa", "autoswap-wdoa", "autoswap-swdoa"}) {
        const double ratio = rows.at(name)[k].ratio;
        if (ratio > 0 && (best == 0 || ratio < best)) best = ratio;
      }
      if (best == 0) continue;
      ++mixes_;
      const double mix = rows.at("autoswap-bo")[k].ratio;
      if (mix == 0 || mix > best) ++worse_mixes_;
    }
  }

  void compare(const std::string& ours, const std::string& theirs, const std::map<std::string, Row>& rows) {
    if (ours == theirs) return;
    Pair& pair = comparisons_[theirs];
    for (std::size_t k = 0; k < std::size(kPercents); ++k) {
      const double mine = rows.at(ours)[k].ratio;
      const double other = rows.at(theirs)[k].ratio;
      pair.only_ours += mine > 0 && other == 0 ? 1 : 0;
      pair.only_theirs += mine == 0 && other > 0 ? 1 : 0;
      if (mine == 0 || other == 0) continue;
      ++pair.both;
      pair.ours += mine;
      pair.theirs += other;
    }
  }

  std::vector<const Planner*> compared_;
  std::map<std::pair<std::string, std::string>, double> seconds_;  // by planner and step ("": all)
  std::map<std::string, Pair> comparisons_;
  int cells_ = 0, plans_ = 0, broken_ = 0;
  int mixes_ = 0, worse_mixes_ = 0;
};

}  // namespace

int main() {
  const fs::path folder = fs::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / "traces";
  if (!fs::exists(folder)) {
    fmt::print("skipped: {} is not there\n", folder.lexically_normal().string());
    return 0;
  }
  Survey survey;
  for (const char* step : kSteps) {
    const Program program = load_program((folder / (std::string(step) + ".json.gz")).string());
    for (const char* machine : kMachines) survey.add(step, program, find_preset(machine));
  }
  survey.print_claims();
  return survey.sound() ? 0 : 1;
}
