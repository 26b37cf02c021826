// [SUB] fig. 5, 6 and 7 on generated networks: memory of results by strategy against depth and unrolling, and
// step times; and memonger's points of [SP] fig. 11. Plans are judged by the simulator and validated; a
// schedule that is not valid fails the program. Charts go to the folder named on the command line, if one is.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "layout/packing.h"
#include "layout/residencies.h"
#include "line_chart.h"
#include "machine/presets.h"
#include "plan/sharing.h"
#include "plan/turn.h"
#include "planners/judge.h"
#include "trace/generate.h"
#include "trace/load.h"

namespace {

using namespace ebb;
using papers::Line;
using papers::LineChart;
namespace fs = std::filesystem;

int failures = 0;

double gib(Bytes bytes) { return static_cast<double>(bytes) / static_cast<double>(kGiB); }

Bytes staying(const Program& program) {
  Bytes total = 0;
  for (const Block& block : program.blocks())
    if (block.lifetime == Lifetime::persistent) total += block.bytes;
  return total;
}

struct Strategy {
  Bytes results = 0;  // what is not a weight, a gradient of one or momentum
  StepResult step;
};

// The planner asked for the impossible says what it can do; asked for that, it does it.
Strategy least(std::string_view planner, const Program& program, const Gaps& gaps, const Machine& machine,
               const PlannerOptions& options = {}) {
  const JudgedPlan refused = plan_and_judge(find_planner(planner), {program, gaps, machine, 1}, options);
  const Bytes limit = refused.infeasible->needed;
  const JudgedPlan judged = plan_and_judge(find_planner(planner), {program, gaps, machine, limit}, options);
  for (const Violation& violation : judged.violations) {
    fmt::print("INVALID {}: {}\n", planner, violation.sentence);
    ++failures;
  }
  if (judged.infeasible) ++failures;
  return {limit - staying(program), judged.step};
}

struct Row {
  double size = 0;
  SharingSummary sharing;
  Strategy cheap = {}, sublinear = {}, recursive = {};
  Nanoseconds forward = 0;
};

Row measure(double size, const Program& program, const Machine& machine) {
  const Gaps gaps(program);
  Row row;
  row.size = size;
  row.sharing = analyse_sharing(program);
  row.cheap = least("drop-cheap", program, gaps, machine, {.settings = {{"by-type", 1}}});
  row.sublinear = least("sublinear", program, gaps, machine);
  row.recursive = least("recursive", program, gaps, machine);
  for (OpIndex i = 0; i < find_turn(program); ++i) row.forward += program.op(i).duration;
  return row;
}

void print_header(const char* title, const char* size) {
  fmt::print("\n{}\n{:>8}{:>10}{:>10}{:>10}{:>12}{:>11}{:>11}   {:>10}{:>11}{:>9}{:>11}{:>9}\n", title, size,
             "no opt", "in-place", "sharing", "drop-cheap", "sublinear", "recursive", "plain ms", "sublinear",
             "of fwd", "recursive", "of fwd");
}

void print_row(const Row& row) {
  auto ms = [](Nanoseconds time) { return static_cast<double>(time) / 1e6; };
  auto passes = [&](const Strategy& strategy) {
    return static_cast<double>(strategy.step.recompute_time) / static_cast<double>(row.forward);
  };
  fmt::print(
      "{:>8}{:>10.2f}{:>10.2f}{:>10.2f}{:>12.2f}{:>11.2f}{:>11.2f}   {:>10.1f}{:>10.3f}x{:>9.3f}{:>10.3f}x"
      "{:>9.2f}\n",
      row.size, gib(row.sharing.no_optimisation), gib(row.sharing.in_place), gib(row.sharing.sharing),
      gib(row.cheap.results), gib(row.sublinear.results), gib(row.recursive.results),
      ms(row.sublinear.step.plain_time), row.sublinear.step.ratio(), passes(row.sublinear),
      row.recursive.step.ratio(), passes(row.recursive));
}

struct Fit {
  double slope = 0, offset = 0, r2 = 0;
};

Fit fit_line(const std::vector<papers::Point>& points) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (const papers::Point& p : points) {
    n += 1, sx += p.x, sy += p.y, sxx += p.x * p.x, sxy += p.x * p.y, syy += p.y * p.y;
  }
  const double xx = sxx - sx * sx / n, xy = sxy - sx * sy / n, yy = syy - sy * sy / n;
  return {xy / xx, (sy - xy / xx * sx) / n, xy * xy / (xx * yy)};
}

void print_fits(const std::vector<Row>& rows) {
  auto fit = [&](auto bytes, bool logarithmic) {
    std::vector<papers::Point> points;
    for (const Row& row : rows)
      points.push_back({std::log2(row.size), logarithmic ? gib(bytes(row)) : std::log2(gib(bytes(row)))});
    return fit_line(points);
  };
  auto sharing = [](const Row& row) { return row.sharing.sharing; };
  auto sublinear = [](const Row& row) { return row.sublinear.results; };
  auto recursive = [](const Row& row) { return row.recursive.results; };
  fmt::print("memory ~ size^b: sharing b = {:.2f}, sublinear b = {:.2f} (√n: 0.5), recursive b = {:.2f}\n",
             fit(sharing, false).slope, fit(sublinear, false).slope, fit(recursive, false).slope);
  const Fit log = fit(recursive, true);
  fmt::print("recursive = {:.3f} + {:.3f} log2(size) GiB, R² = {:.3f}\n", log.offset, log.slope, log.r2);
}

void draw_memory(const fs::path& file, const char* title, const char* size, const std::vector<Row>& rows) {
  LineChart chart{
      .title = title, .x_label = fmt::format("log2 {}", size), .y_label = "log2 MiB", .lines = {}};
  auto add = [&](const char* name, auto bytes) {
    Line line{name, {}, papers::Stroke::marked};
    for (const Row& row : rows)
      line.points.push_back({std::log2(row.size), std::log2(gib(bytes(row)) * 1024)});
    chart.lines.push_back(line);
  };
  add("no optimisation", [](const Row& row) { return row.sharing.no_optimisation; });
  add("in-place", [](const Row& row) { return row.sharing.in_place; });
  add("sharing", [](const Row& row) { return row.sharing.sharing; });
  add("drop-cheap", [](const Row& row) { return row.cheap.results; });
  add("sublinear", [](const Row& row) { return row.sublinear.results; });
  add("recursive", [](const Row& row) { return row.recursive.results; });
  papers::write_chart(file, chart);
}

void draw_time(const fs::path& file, const char* title, const char* size, const std::vector<Row>& rows) {
  LineChart chart{.title = title, .x_label = size, .y_label = "ms per step", .lines = {}};
  Line plain{"nothing dropped", {}, papers::Stroke::marked};
  Line planned{"sublinear", {}, papers::Stroke::marked};
  for (const Row& row : rows) {
    plain.points.push_back({row.size, static_cast<double>(row.sublinear.step.plain_time) / 1e6});
    planned.points.push_back({row.size, static_cast<double>(row.sublinear.step.step_time) / 1e6});
  }
  chart.lines = {plain, planned};
  papers::write_chart(file, chart);
}

void print_memonger_points() {
  const fs::path folder = fs::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / "traces" / "papers";
  fmt::print("\n[SP] fig. 11, memonger (sublinear at 70 %, 50 % and its least; op times as recorded)\n");
  if (!fs::exists(folder)) {
    fmt::print("skipped: {} is not there\n", folder.lexically_normal().string());
    return;
  }
  for (const char* name : {"sp-vgg16-cifar-b100", "sp-resnet50-cifar-b100"}) {
    const Program program = load_program((folder / (std::string(name) + ".json.gz")).string());
    const Gaps gaps(program);
    const Machine& machine = find_preset("gtx1080ti");
    const auto plain = layout::pack(layout::arena_problem(program).problem).footprint;
    const Planner& planner = find_planner("sublinear");
    const JudgedPlan refused = plan_and_judge(planner, {program, gaps, machine, 1}, {});
    for (const Bytes limit :
         {program.peak_demand() / 10 * 7, program.peak_demand() / 2, refused.infeasible->needed}) {
      const JudgedPlan judged = plan_and_judge(planner, {program, gaps, machine, limit}, {});
      if (judged.infeasible || judged.schedule.commands.empty()) {
        fmt::print("{:<26}{:>8.0f} MiB  not reached\n", name, gib(limit) * 1024);
        continue;
      }
      const auto planned =
          layout::pack(layout::arena_problem(program, gaps, judged.lowered, judged.schedule).problem)
              .footprint;
      fmt::print("{:<26}{:>8.0f} MiB  footprint -{:.1f} %, overhead {:.1f} %\n", name, gib(limit) * 1024,
                 100 * (1 - static_cast<double>(planned) / static_cast<double>(plain)),
                 100 * (judged.step.ratio() - 1));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Machine& machine = find_preset("titanx");
  const Speed speed{machine.teraflops * 1e12, machine.memory_gb_per_s * 1e9};
  std::vector<Row> resnets, lstms;
  print_header(
      "[SUB] fig. 5 and 7, ResNets, batch 32, 224²: GiB of results; titanx. Paper: sharing 48 GB and "
      "sublinear below 7 GB at 1000 layers, sharing 2-3 times less than no optimisation, +30 % time",
      "layers");
  for (const int depth : {50, 101, 200, 302, 500, 752, 1001}) {
    resnets.push_back(measure(depth, generate_resnet({.depth = depth}, speed), machine));
    print_row(resnets.back());
  }
  print_fits(resnets);
  print_header(
      "[SUB] fig. 6 and 7, LSTM, 4 x 1024, batch 64: GiB of results; titanx. Paper: sublinear more than 4 "
      "times less than sharing, +30 % time",
      "steps");
  for (const int steps : {16, 32, 64, 128, 256}) {
    lstms.push_back(measure(steps, generate_lstm({.steps = steps}, speed), machine));
    print_row(lstms.back());
  }
  print_fits(lstms);
  print_memonger_points();
  if (argc > 1) {
    const fs::path folder = argv[1];
    draw_memory(folder / "sublinear-fig5.svg", "[SUB] fig. 5: ResNets, batch 32", "layers", resnets);
    draw_memory(folder / "sublinear-fig6.svg", "[SUB] fig. 6: LSTM, 4 x 1024, batch 64", "steps", lstms);
    draw_time(folder / "sublinear-fig7-resnet.svg", "[SUB] fig. 7: ResNets on a Titan X", "layers", resnets);
    draw_time(folder / "sublinear-fig7-lstm.svg", "[SUB] fig. 7: LSTM on a Titan X", "steps", lstms);
  }
  return failures == 0 ? 0 : 1;
}
