// [SP] fig. 8: VGG16's memory load over one step, as it is, under the paper's two limits and at load_min.
#include <fmt/format.h>

#include "autoswap_inputs.h"
#include "line_chart.h"

namespace {

using namespace ebb;
using namespace ebb::papers;

Line curve(const std::string& name, const JudgedPlan& judged) {
  Line line{name, {}, Stroke::steps};
  for (const LoadPoint& point : judged.timeline.load)
    line.points.push_back({milliseconds(point.time), mebibytes(point.bytes)});
  line.points.push_back({milliseconds(judged.step.step_time), mebibytes(judged.timeline.load.back().bytes)});
  return line;
}

}  // namespace

int main() {
  const auto traces = find_traces();
  if (!traces) return 0;
  const SpNetwork& vgg16 = sp_networks()[5];
  const SpStep step = load_sp_step(*traces, vgg16);
  const Bytes peak = step.program.peak_demand();
  const JudgedPlan plain = plan_and_judge(find_planner("keep"), step.at(peak), {});
  const JudgedPlan once = plan_and_judge(find_planner("autoswap-bo"), step.at(peak), {});
  const auto load_min = static_cast<Bytes>(finding(once, "load_min"));
  struct Limit {
    std::string name;
    Bytes bytes;
    std::string paper;
  };
  const std::vector<Limit> limits = {
      {"500 of 647 MB", static_cast<Bytes>(static_cast<double>(peak) * 500 / vgg16.load_mb), ""},
      {"400 of 647 MB", static_cast<Bytes>(static_cast<double>(peak) * 400 / vgg16.load_mb), ""},
      {"load_min", load_min, "the paper evaluates down to 280 MB, slightly above its load_min"},
  };
  LineChart chart{.title = "[SP] fig. 8: load of VGG16 (CIFAR-10, batch 100), AutoSwap (BO)",
                  .x_label = "time (ms)",
                  .y_label = "memory (MiB)",
                  .lines = {curve("nothing moved", plain)}};
  fmt::print("[SP] fig. 8: VGG16, step {:.1f} ms as in the paper, peak {:.1f} MiB (paper: 647 MB)\n\n",
             vgg16.step_ms, mebibytes(peak));
  fmt::print("{:<16}{:>11}{:>12}{:>12}{:>9}{:>8}\n", "limit", "limit MiB", "peak MiB", "step ms", "over %",
             "swaps");
  for (const Limit& limit : limits) {
    const JudgedPlan judged = plan_and_judge(find_planner("autoswap-bo"), step.at(limit.bytes), {});
    if (judged.infeasible) {
      fmt::print("{:<16}{}\n", limit.name, judged.infeasible->sentence(step.program));
      continue;
    }
    fmt::print("{:<16}{:>11.1f}{:>12.1f}{:>12.2f}{:>9.1f}{:>8}   {}\n", limit.name, mebibytes(limit.bytes),
               mebibytes(judged.step.peak_demand), milliseconds(judged.step.step_time),
               overhead_percent(judged), judged.lowered.swaps.size(), limit.paper);
    chart.lines.push_back(curve(fmt::format("limit {:.0f} MiB", mebibytes(limit.bytes)), judged));
  }
  write_chart(pictures() / "autoswap-fig8.svg", chart);
}
