#include "cli/load_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/table.h"
#include "machine/units.h"

namespace ebb::cli {
namespace {

constexpr std::array<std::string_view, 9> kBars = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::size_t kSteps = kBars.size() - 1;

std::vector<Bytes> highest_per_column(const Program& program, std::size_t columns) {
  std::vector<Bytes> highest(columns, 0);
  const auto total = static_cast<double>(std::max<Nanoseconds>(1, program.compute_time()));
  Nanoseconds now = 0;
  for (OpIndex i = 0; i < program.op_count(); ++i) {
    const auto column = [&](Nanoseconds time) {
      const double at = static_cast<double>(time) / total * static_cast<double>(columns);
      return std::min(columns - 1, static_cast<std::size_t>(at));
    };
    const std::size_t first = column(now);
    now += program.op(i).duration;
    for (std::size_t c = first; c <= column(now); ++c) highest[c] = std::max(highest[c], program.demand(i));
  }
  return highest;
}

}  // namespace

std::string plot_demand(const Program& program, std::size_t columns, std::size_t rows) {
  const std::vector<Bytes> highest = highest_per_column(program, columns);
  const auto peak = static_cast<double>(std::max<Bytes>(1, program.peak_demand()));
  const std::string top = format_bytes(program.peak_demand());
  std::string text;
  for (std::size_t row = rows; row-- > 0;) {
    text += fmt::format("{:>{}} |", row + 1 == rows ? top : row == 0 ? "0" : "", top.size());
    for (Bytes bytes : highest) {
      const double filled = static_cast<double>(bytes) / peak * static_cast<double>(rows * kSteps);
      const auto steps = static_cast<std::size_t>(std::max(0.0, filled - static_cast<double>(row * kSteps)));
      text += kBars[std::min(kSteps, steps)];
    }
    text += "\n";
  }
  const std::string end = format_time(program.compute_time());
  return text + fmt::format("{:{}}  0{:>{}}\n", "", top.size(), end, columns - 1);
}

}  // namespace ebb::cli
