// [OFF] fig. 5-12 (time against the lower bound from the smallest memory to the peak) and fig. 13-19 (images
// per second) on the recorded steps, with times scaled to the paper's GPU. Every curve twice: in the chain
// model, as the paper has it, and as the simulator judges the plan of the whole step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "line_chart.h"
#include "machine/presets.h"
#include "machine/scale.h"
#include "planners/chain/chain_schedule.h"
#include "planners/chain/chain_view.h"
#include "planners/chain/slots.h"
#include "planners/chain/threshold.h"
#include "planners/evaluator.h"
#include "trace/load.h"

namespace {

using namespace ebb;
using namespace ebb::papers;
namespace fs = std::filesystem;

constexpr int kLimits = 20;  // steps from the smallest memory to the peak
constexpr Slots kSlots = 500;
// ResNet-50 in fp32 trains 128 images of 224 x 224 in 342.37 ms on a V100 (github.com/sandeepkumar-skb/
// pytorch_experiments, torchvision_exp): the factor that, after scaling by kind of op, makes the recorded
// step as fast is used for all steps.
constexpr double kV100Image = 342.37e6 / 128;  // ns
constexpr const char* kCalibrationStep = "off-resnet50-224-b32";

struct Workload {
  const char* name;
  int batch;
  const char* figures;
};
constexpr Workload kWorkloads[] = {
    {"off-resnet18-224-b32", 32, "6, 13"},    {"off-resnet34-224-b32", 32, "6, 13"},
    {"off-resnet50-224-b32", 32, "5, 6, 13"}, {"off-resnet101-224-b32", 32, "5, 6, 13"},
    {"off-resnet50-500-b8", 8, "7, 14"},      {"off-resnet50-1000-b4", 4, "8, 15"},
    {"off-densenet121-224-b32", 32, "9, 16"}, {"off-densenet161-224-b32", 32, "9, 16"},
    {"off-densenet121-500-b8", 8, "10, 17"},  {"off-densenet121-1000-b4", 4, "11, 18"},
    {"off-inception-299-b32", 32, "12, 19"},
};

// A ratio to the lower bound by memory limit; NaN where there is no schedule.
using Curve = std::vector<double>;

const double kNone = std::nan("");

struct Curves {
  std::vector<double> percent;  // 0: smallest memory, 100: peak
  std::vector<double> bound;    // ns, of the chain
  std::vector<double> step_bound;
  Curve interrupted;  // DynProg's own makespan, with transfers that may be interrupted
  std::size_t layers = 0;
  Curve any_set;  // the best of all sets of whole transfers, where there are few enough to try them all
  std::map<std::string, Curve> chain;
  std::map<std::string, Curve> step;
};

double cpu_seconds(std::clock_t since) { return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC; }

std::optional<Nanoseconds> best_threshold(const Chain& chain, Bytes memory) {
  std::optional<Nanoseconds> best = chain_makespan(chain, memory, OffloadSet(chain.size(), false));
  for (const OffloadSet& set : threshold_sets(chain)) {
    const auto makespan = chain_makespan(chain, memory, set);
    if (makespan && (!best || *makespan < *best)) best = makespan;
  }
  return best;
}

constexpr std::size_t kFewLayers = 16;
constexpr double kClaim = 1.2;  // "consistently below": [OFF] §6.2

std::optional<Nanoseconds> best_of_all_sets(const Chain& chain, Bytes memory) {
  std::optional<Nanoseconds> best;
  for (std::uint32_t bits = 0; bits < (1U << chain.size()); ++bits) {
    OffloadSet set(chain.size());
    for (std::size_t i = 0; i < chain.size(); ++i) set[i] = (bits >> i & 1) != 0;
    const auto makespan = chain_makespan(chain, memory, set);
    if (makespan && (!best || *makespan < *best)) best = makespan;
  }
  return best;
}

// The paper's chain ends with B_0.
Chain without_update(const ChainView& view, const Program& program, const Machine& machine) {
  Chain chain = view.chain;
  for (const Op& op : program.ops())
    if (op.phase == Phase::update) chain.layers.front().backward -= machine.op_time(op);
  return chain;
}

// Those of the paper's comparison that exist; a search keeps to its default effort.
std::vector<Planner> compared_planners() {
  std::vector<Planner> compared;
  for (const char* name : {"greedy", "dynprog", "vdnn-threshold", "tflms", "autoswap-bo"})
    for (const Planner& planner : planners())
      if (planner.name == name) compared.push_back(planner);
  return compared;
}

Curves measure(const Program& program, const Machine& machine, std::map<std::string, double>& seconds) {
  const Gaps gaps(program);
  const ChainView view = view_as_chain(program, gaps, machine);
  const Chain chain = without_update(view, program, machine);
  const Bytes least = chain.smallest_memory();
  Curves curves;
  curves.layers = chain.size();
  for (int k = 0; k <= kLimits; ++k) {
    const Bytes memory = least + (chain.peak() - least) * k / kLimits;
    const auto bound = static_cast<double>(chain.lower_bound(memory));
    const auto step_bound = static_cast<double>(view.chain.lower_bound(memory));
    const auto ratio = [&](std::optional<Nanoseconds> time) {
      return time ? static_cast<double>(*time) / bound : kNone;
    };
    const auto solution = solve_in_slots(chain, memory, kSlots);
    curves.percent.push_back(100.0 * k / kLimits);
    curves.bound.push_back(bound);
    curves.step_bound.push_back(step_bound);
    const OffloadSet greedy = greedy_offloads(chain, memory);
    curves.interrupted.push_back(solution ? static_cast<double>(solution->bound) / bound : kNone);
    curves.chain["greedy"].push_back(ratio(chain_makespan(chain, memory, greedy)));
    curves.chain["dynprog"].push_back(
        ratio(chain_makespan(chain, memory, solution ? solution->offloaded : greedy)));
    if (chain.size() <= kFewLayers) curves.any_set.push_back(ratio(best_of_all_sets(chain, memory)));
    curves.chain["vdnn-threshold"].push_back(ratio(best_threshold(chain, memory)));
    const PlanningProblem problem{program, gaps, machine, memory + view.base};
    Evaluator evaluate(problem);
    for (const Planner& planner : compared_planners()) {
      const std::clock_t start = std::clock();
      const PlanningResult result = planner.plan(problem, {});
      seconds[std::string(planner.name)] = std::max(seconds[std::string(planner.name)], cpu_seconds(start));
      const StepResult step =
          result.infeasible ? StepResult{.infeasible = result.infeasible} : evaluate(result.plan);
      curves.step[std::string(planner.name)].push_back(
          step.infeasible ? kNone : static_cast<double>(step.step_time) / step_bound);
    }
  }
  return curves;
}

double worst(const Curve& curve) {
  double most = 0;
  for (const double value : curve)
    if (std::isfinite(value)) most = std::max(most, value);
  return most;
}

double mean(const Curve& curve) {
  double sum = 0;
  int count = 0;
  for (const double value : curve)
    if (std::isfinite(value)) {
      sum += value;
      ++count;
    }
  return count == 0 ? kNone : sum / count;
}

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{:.3f}", value) : "-"; }

void print_table(const Curves& curves) {
  fmt::print("| memory | interrupted |");
  for (const auto& [name, curve] : curves.chain) fmt::print(" {} (chain) |", name);
  for (const auto& [name, curve] : curves.step) fmt::print(" {} |", name);
  fmt::print("\n|---:|---:|");
  for (std::size_t i = 0; i < curves.chain.size() + curves.step.size(); ++i) fmt::print("---:|");
  fmt::print("\n");
  for (std::size_t k = 0; k < curves.percent.size(); k += 2) {
    fmt::print("| {:.0f} % | {} |", curves.percent[k], cell(curves.interrupted[k]));
    for (const auto* group : {&curves.chain, &curves.step})
      for (const auto& [name, curve] : *group) fmt::print(" {} |", cell(curve[k]));
    fmt::print("\n");
  }
}

void draw_charts(const fs::path& folder, const Workload& workload, const Curves& curves) {
  LineChart ratios{.title = fmt::format("{}: time / lower bound (chain model)", workload.name),
                   .x_label = "memory, % of the way from the smallest to the peak",
                   .y_label = "makespan / lower bound",
                   .lines = {},
                   .y_from = 1,
                   .y_to = 2.5};
  LineChart rates{.title = fmt::format("{}: images per second", workload.name),
                  .x_label = ratios.x_label,
                  .y_label = "images / s",
                  .lines = {}};
  const auto add = [&](const std::string& name, const Curve& curve, const std::vector<double>& bound,
                       Stroke stroke) {
    Line ratio{.name = name, .points = {}, .stroke = stroke};
    Line rate{.name = name, .points = {}, .stroke = stroke};
    for (std::size_t k = 0; k < curve.size(); ++k) {
      ratio.points.push_back({curves.percent[k], curve[k]});
      rate.points.push_back({curves.percent[k], workload.batch * 1e9 / (curve[k] * bound[k])});
    }
    ratios.lines.push_back(std::move(ratio));
    rates.lines.push_back(std::move(rate));
  };
  for (const auto& [name, curve] : curves.chain) add(name, curve, curves.bound, Stroke::plain);
  for (const auto& [name, curve] : curves.step)
    add(name + " (step)", curve, curves.step_bound, Stroke::dashed);
  write_chart(folder / fmt::format("{}-ratio.svg", workload.name), ratios);
  write_chart(folder / fmt::format("{}-throughput.svg", workload.name), rates);
}

// How one planner's ratios compare with another's where both have a schedule.
struct Comparison {
  double ours = 0;
  double theirs = 0;
  int both = 0;
  int only_ours = 0;
  int only_theirs = 0;

  void add(const Curve& mine, const Curve& other) {
    for (std::size_t k = 0; k < mine.size(); ++k) {
      const bool here = std::isfinite(mine[k]);
      const bool there = std::isfinite(other[k]);
      both += here && there ? 1 : 0;
      only_ours += here && !there ? 1 : 0;
      only_theirs += !here && there ? 1 : 0;
      if (here && there) ours += mine[k];
      if (here && there) theirs += other[k];
    }
  }
};

void print_comparison(const char* model, const std::map<std::string, Comparison>& comparisons) {
  for (const auto& [name, c] : comparisons)
    fmt::print("| {} | {} | {} | {} | {:.4f} | {:.4f} | {} |\n", model, name, c.both,
               fmt::format("{} / {}", c.only_ours, c.only_theirs), c.ours / c.both, c.theirs / c.both,
               c.ours <= c.theirs ? "yes" : "**no**");
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path traces = fs::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / "traces" / "papers";
  if (!fs::exists(traces)) {
    fmt::print("skipped: {} is not there\n", traces.lexically_normal().string());
    return 0;
  }
  const fs::path charts = argc > 1 ? argv[1] : "offload-figures";
  const auto load = [&](const std::string& name) {
    return load_program((traces / (name + ".json.gz")).string());
  };
  const Machine& recorded_on = find_preset("h200");
  const Machine& v100 = find_preset("v100-pcie3");
  const Program calibration = load(kCalibrationStep);
  const double scale = match_step_time(scale_to(v100, recorded_on, calibration), calibration,
                                       static_cast<Nanoseconds>(32 * kV100Image))
                           .compute_scale;
  fmt::print("Arithmetic x {:.2f}, other ops x {:.2f}; link {:.1f} GB/s, one transfer at a time.\n",
             scale * recorded_on.teraflops / v100.teraflops,
             scale * recorded_on.memory_gb_per_s / v100.memory_gb_per_s,
             static_cast<double>(v100.bandwidth_out) / 1e9);

  std::map<std::string, double> seconds;
  std::map<std::string, Comparison> in_chain, in_step;
  double highest = 0;
  double highest_interrupted = 0;
  int limits = 0, within = 0, out_of_reach = 0;
  std::string summary;
  for (const Workload& workload : kWorkloads) {
    const Program program = load(workload.name);
    Machine machine = scale_to(v100, recorded_on, program);
    machine.compute_scale = scale;
    const Curves curves = measure(program, machine, seconds);
    fmt::print("\n### {} (fig. {})\n", workload.name, workload.figures);
    print_table(curves);
    draw_charts(charts, workload, curves);
    for (const auto& [name, curve] : curves.chain)
      if (name != "dynprog") in_chain[name].add(curves.chain.at("dynprog"), curve);
    for (const auto& [name, curve] : curves.step)
      if (name != "dynprog") in_step[name].add(curves.step.at("dynprog"), curve);
    highest = std::max(highest, worst(curves.chain.at("dynprog")));
    highest_interrupted = std::max(highest_interrupted, worst(curves.interrupted));
    for (std::size_t k = 0; k < curves.percent.size(); ++k) {
      ++limits;
      within += curves.chain.at("dynprog")[k] <= kClaim ? 1 : 0;
      out_of_reach += curves.interrupted[k] > kClaim ? 1 : 0;
    }
    if (!curves.any_set.empty())
      fmt::print(
          "\nAll 2^{} sets of whole transfers tried: the best is above {} x at {} of {} limits, {} x at "
          "worst.\n",
          curves.layers, kClaim,
          std::count_if(curves.any_set.begin(), curves.any_set.end(), [](double r) { return r > kClaim; }),
          curves.any_set.size(), cell(worst(curves.any_set)));
    summary +=
        fmt::format("| {} | {:.1f} | {} / {} |", workload.name, workload.batch * 1e9 / curves.bound.back(),
                    cell(mean(curves.interrupted)), cell(worst(curves.interrupted)));
    for (const auto& [name, curve] : curves.chain)
      summary += fmt::format(" {} / {} |", cell(mean(curve)), cell(worst(curve)));
    summary += fmt::format(" {} / {} |\n", cell(mean(curves.step.at("dynprog"))),
                           cell(worst(curves.step.at("dynprog"))));
  }
  fmt::print("\n### Summary: ratio to the lower bound, mean / worst over the limits\n");
  fmt::print(
      "| step | images/s without limit | interrupted | dynprog (chain) | greedy (chain) | vdnn-threshold "
      "(chain) | dynprog, whole step |\n");
  fmt::print("|---|---:|---:|---:|---:|---:|---:|\n{}", summary);
  fmt::print(
      "\nDynProg in the chain model: at most {:.3f} x the lower bound, within {} x at {} of {} limits. With "
      "transfers that may be interrupted, where it is optimal but for the slots and which no schedule of "
      "whole ones "
      "beats: at most {:.3f} x, above {} x at {} limits.\n",
      highest, kClaim, within, limits, highest_interrupted, kClaim, out_of_reach);
  fmt::print(
      "\n| model | dynprog against | limits with both | only dynprog / only the other | dynprog | the other "
      "| not worse on average |\n");
  fmt::print("|---|---|---:|---:|---:|---:|---|\n");
  print_comparison("chain", in_chain);
  print_comparison("whole step", in_step);
  fmt::print("\nLongest planning (CPU s):");
  for (const auto& [name, value] : seconds) fmt::print(" {} {:.3f}", name, value);
  fmt::print("\n");
}
