// [DQN] fig. 5: overhead against memory reduction, swap only and swap + recompute, beside memonger,
// SuperNeurons, TFLMS and what came later, on the paper's GPU.
// Usage: paper_dqn_curves RECORDED [FOLDER for the SVGs] [NETWORK…]; RECORDED holds what
// bench/papers/record_dqn_inputs.sh recorded.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>

#include "autoswap_inputs.h"
#include "learning/dqn_planner.h"
#include "line_chart.h"
#include "machine/presets.h"
#include "machine/scale.h"
#include "plan/smallest_limit.h"
#include "planners/judge.h"
#include "planners/swap/plain_clock.h"
#include "trace/load.h"

namespace {

using namespace ebb;
using namespace ebb::papers;
namespace fs = std::filesystem;

constexpr int kReductions[] = {10, 20, 30, 40, 50, 60};  // percent of the peak demand
constexpr std::int64_t kEpisodes = 60;
constexpr std::int64_t kSearch = 5000;  // simulations of the searches beside it
// What K-means and the stochastic-depth network need, at three tenths of the GPU's rate: recorded on a CPU,
// their ops have proportions, not times.
constexpr double kKmeansFlops = 3.0 * 50'000 * 1024 * 32;
constexpr double kStochasticFlops =
    3 * 2 * 0.126e9 * 100;  // ResNet-56, batch 100, forward and twice backward
constexpr double kRate = 0.3 * 11.3e12;

struct Network {
  std::string name;
  Program program;
  Machine machine;
};

struct Curve {
  std::string label;
  std::string planner;
  PlannerOptions options;
  Stroke stroke = Stroke::plain;
};

std::vector<Curve> curves() {
  const PlannerOptions learning{.evaluations = kEpisodes};
  PlannerOptions swaps = learning;
  swaps.allow_recompute = false;
  const PlannerOptions searching{.evaluations = kSearch, .threads = 2};
  return {{"DQN, swap", "dqn", swaps, Stroke::marked},
          {"DQN, swap + recompute", "dqn", learning, Stroke::marked},
          {"memonger (sublinear)", "sublinear", {}, Stroke::dashed},
          {"checkpoint-sqrt", "checkpoint-sqrt", {}, Stroke::dashed},
          {"SuperNeurons", "superneurons", {}, Stroke::dashed},
          {"SuperNeurons, swap", "superneurons-swap", {}, Stroke::dashed},
          {"SuperNeurons, recompute", "superneurons-recompute", {}, Stroke::dashed},
          {"TFLMS", "tflms", {}, Stroke::dashed},
          {"HOME", "home", searching},
          {"ebb", "ebb", searching}};
}

// The host that issued the ops on a CPU is not the one that feeds the GPU.
Program without_issue_times(const Program& program) {
  std::vector<Op> ops = program.ops();
  for (Op& op : ops) op.issue = 0;
  return Program::build(program.info(), std::move(ops), program.blocks());
}

std::vector<Network> load_networks(const fs::path& recorded) {
  std::vector<Network> networks;
  const auto traces = find_traces();
  if (!traces) return networks;
  for (const SpNetwork& network : sp_networks())
    if (network.name == "ResNet18" || network.name == "ResNet50" || network.name == "VGG11" ||
        network.name == "VGG19") {
      SpStep step = load_sp_step(*traces, network);
      networks.push_back({network.name, std::move(step.program), std::move(step.machine)});
    }
  for (const auto& [name, file] : {std::pair("U-Net", "unet.json.gz"), std::pair("LSTM", "lstm.json.gz")}) {
    Program program = load_program((*traces / file).string());
    Machine machine = scale_to(find_preset("gtx1080ti"), find_preset("h200"), program);
    networks.push_back({name, std::move(program), std::move(machine)});
  }
  for (const auto& [name, file, flops] :
       {std::tuple("K-means", "kmeans.ebb", kKmeansFlops),
        std::tuple("SD-ResNet", "stochastic-depth.ebb", kStochasticFlops)}) {
    if (!fs::exists(recorded / file)) {
      fmt::print("skipped: {} is not there\n", (recorded / file).string());
      continue;
    }
    LoadOptions options;
    options.smallest_managed = 4 * kKiB;
    Program program = without_issue_times(load_program((recorded / file).string(), options));
    Machine machine = match_step_time(find_preset("gtx1080ti"), program,
                                      static_cast<Nanoseconds>(std::llround(1e9 * flops / kRate)));
    networks.push_back({name, std::move(program), std::move(machine)});
  }
  return networks;
}

double cpu_seconds(std::clock_t since) { return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC; }

int invalid = 0;

double overhead(const Planner& planner, const PlanningProblem& problem, const PlannerOptions& options) {
  const JudgedPlan judged = plan_and_judge(planner, problem, options);
  invalid += judged.violations.empty() ? 0 : 1;
  return judged.infeasible ? std::numeric_limits<double>::quiet_NaN() : overhead_percent(judged);
}

void draw(const Network& network, const std::string& folder) {
  const Gaps gaps(network.program);
  const Bytes peak = network.program.peak_demand();
  LineChart chart{.title = fmt::format("[DQN] fig. 5: {}", network.name),
                  .x_label = "memory reduction, %",
                  .y_label = "overhead, %",
                  .lines = {},
                  .y_to = 100};
  fmt::print("\n{}: {} ops, peak {:.0f} MiB, plain step {:.1f} ms\n{:<26}", network.name,
             network.program.op_count(), mebibytes(peak),
             milliseconds(PlainClock(network.program, network.machine).step()), "reduction, %");
  for (const int reduction : kReductions) fmt::print("{:>8}", reduction);
  fmt::print("{:>10}\n", "CPU s");
  for (const Curve& curve : curves()) {
    const std::clock_t start = std::clock();
    Line line{.name = curve.label, .points = {}, .stroke = curve.stroke};
    fmt::print("{:<26}", curve.label);
    for (const int reduction : kReductions) {
      const PlanningProblem problem{network.program, gaps, network.machine, peak / 100 * (100 - reduction)};
      const bool possible = problem.limit >= largest_op_need(network.program).bytes;
      const double percent = possible ? overhead(find_planner(curve.planner), problem, curve.options)
                                      : std::numeric_limits<double>::quiet_NaN();
      line.points.push_back({static_cast<double>(reduction), percent});
      fmt::print("{:>8}", std::isfinite(percent) ? fmt::format("{:.1f}", percent) : "-");
      std::fflush(stdout);
    }
    fmt::print("{:>10.1f}\n", cpu_seconds(start));
    chart.lines.push_back(std::move(line));
  }
  if (!folder.empty()) write_chart(folder + "/dqn-fig5-" + network.name + ".svg", chart);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "paper_dqn_curves RECORDED [FOLDER for the SVGs] [NETWORK…]\n");
    return 2;
  }
  if (!learning::register_dqn()) {
    fmt::print("skipped: this build has no libtorch\n");
    return 0;
  }
  const std::vector<std::string> wanted(argv + std::min(argc, 3), argv + argc);
  fmt::print("[DQN] fig. 5: overhead in percent; - = no plan; {} episodes\n", kEpisodes);
  for (const Network& network : load_networks(argv[1]))
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), network.name) != wanted.end())
      draw(network, argc > 2 ? argv[2] : "");
  fmt::print("\nschedules that break a rule: {}\n", invalid);
  return invalid == 0 ? 0 : 1;
}
