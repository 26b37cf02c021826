#include "cli/load_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/table.h"
#include "machine/units.h"
#include "report/sparkline.h"

namespace ebb::cli {
namespace {

constexpr std::array<std::string_view, 9> kBars = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::size_t kSteps = kBars.size() - 1;

}  // namespace

std::string plot_demand(const Program& program, std::size_t columns, std::size_t rows) {
  const std::vector<Bytes> highest = report::demand_by_column(program, columns);
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
