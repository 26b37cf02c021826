// [HOME] table 2 and fig. 6: the largest batch that fits 11 GiB and its throughput, and throughput against
// batch. Usage: paper_home_batches [FOLDER for the SVGs]
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "home_inputs.h"
#include "line_chart.h"
#include "planners/largest_batch.h"

namespace {

using namespace ebb;
using namespace ebb::papers;

const PlannerOptions kOptions{.evaluations = 20'000, .threads = 2};
constexpr const char* kCompared[] = {"keep", "capuchin", "home"};
constexpr std::int64_t kPoints = 8;

struct Curve {
  const char* planner;
  const char* label;
};
constexpr Curve kCurves[] = {{"keep", "plain"},
                             {"vdnn", "vDNN"},
                             {"superneurons", "SuperNeurons"},
                             {"capuchin", "Capuchin"},
                             {"home", "HOME"}};

struct Row {
  std::int64_t batch[3] = {};
  double throughput[3] = {};
};

Row print_row(const HomeNetwork& network) {
  Row row;
  for (std::size_t i = 0; i < 3; ++i) {
    const LargestBatch largest =
        find_largest_batch(network.model, network.machine, kHomeLimit, find_planner(kCompared[i]), kOptions);
    row.batch[i] = largest.batch;
    row.throughput[i] = largest.throughput();
  }
  const HomePublished& paper = network.published;
  fmt::print("{:<10}", network.name);
  for (std::size_t i = 0; i < 3; ++i) fmt::print("{:>7} ({:>4})", row.batch[i], paper.batch[i]);
  for (std::size_t i = 0; i < 3; ++i)
    fmt::print("{:>8.0f} ({:>4.0f})", row.throughput[i], paper.throughput[i]);
  auto of = [](auto a, auto b) { return static_cast<double>(a) / static_cast<double>(b); };
  fmt::print("   {:.2f} ({:.2f})  {:.2f} ({:.2f})  {:.2f} ({:.2f})\n", of(row.batch[2], row.batch[0]),
             of(paper.batch[2], paper.batch[0]), of(row.batch[2], row.batch[1]),
             of(paper.batch[2], paper.batch[1]), row.throughput[2] / row.throughput[1],
             paper.throughput[2] / paper.throughput[1]);
  return row;
}

void draw_curves(const HomeNetwork& network, const Row& row, const std::string& folder) {
  LineChart chart{.title = fmt::format("[HOME] fig. 6: {} within 11 GiB", network.name),
                  .x_label = "batch",
                  .y_label = "samples per second",
                  .lines = {}};
  std::vector<std::int64_t> batches;
  const std::int64_t from = row.batch[0] / 2;
  for (std::int64_t i = 0; i <= kPoints; ++i) batches.push_back(from + (row.batch[2] - from) * i / kPoints);
  fmt::print("\n{:<14}", network.name);
  for (std::int64_t batch : batches) fmt::print("{:>8}", batch);
  for (const Curve& curve : kCurves) {
    Line line{.name = curve.label, .points = {}, .stroke = Stroke::marked};
    fmt::print("\n{:<14}", curve.label);
    for (std::int64_t batch : batches) {
      const auto judged = plan_at(network, batch, curve.planner, kOptions);
      const double throughput =
          judged ? samples_per_second(batch, *judged) : std::numeric_limits<double>::quiet_NaN();
      line.points.push_back({static_cast<double>(batch), throughput});
      fmt::print("{:>8}", judged ? fmt::format("{:.0f}", throughput) : "-");
    }
    chart.lines.push_back(std::move(line));
  }
  fmt::print("\n");
  if (!folder.empty()) write_chart(folder + "/home-fig6-" + network.name + ".svg", chart);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<HomeNetwork> networks = load_home_networks();
  if (networks.empty()) return 0;
  fmt::print("[HOME] table 2: ours (the paper's); 11 GiB, RTX 2080 Ti, CIFAR-sized inputs\n");
  fmt::print("{:<10}{:^42}{:^45}   {}\n", "", "largest batch: plain, Capuchin, HOME",
             "samples/s: plain, Capuchin, HOME", "batch HOME/plain, HOME/Capuchin; throughput HOME/Capuchin");
  std::vector<Row> rows;
  for (const HomeNetwork& network : networks) rows.push_back(print_row(network));
  fmt::print("\n[HOME] fig. 6: samples per second against batch; - = does not fit\n");
  for (std::size_t i = 0; i < networks.size(); ++i)
    draw_curves(networks[i], rows[i], argc > 1 ? argv[1] : "");
}
