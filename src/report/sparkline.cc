#include "report/sparkline.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ebb::report {
namespace {

constexpr std::array<std::string_view, 9> kBars = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// Raises what is shown between two times to at least `bytes`.
class Columns {
 public:
  Columns(Nanoseconds length, std::size_t columns)
      : length_(static_cast<double>(std::max<Nanoseconds>(1, length))), highest_(columns, 0) {}

  void raise(Nanoseconds begin, Nanoseconds end, Bytes bytes) {
    for (std::size_t c = column(begin); c <= column(end); ++c) highest_[c] = std::max(highest_[c], bytes);
  }
  std::vector<Bytes> take() { return std::move(highest_); }

 private:
  std::size_t column(Nanoseconds time) const {
    const double at = static_cast<double>(time) / length_ * static_cast<double>(highest_.size());
    return std::min(highest_.size() - 1, static_cast<std::size_t>(std::max(0.0, at)));
  }
  double length_;
  std::vector<Bytes> highest_;
};

}  // namespace

std::vector<Bytes> demand_by_column(const Program& program, std::size_t columns) {
  Columns result(program.compute_time(), columns);
  Nanoseconds now = 0;
  for (OpIndex i = 0; i < program.op_count(); ++i) {
    result.raise(now, now + program.op(i).duration, program.demand(i));
    now += program.op(i).duration;
  }
  return result.take();
}

std::vector<Bytes> load_by_column(const Timeline& timeline, Nanoseconds step_time, std::size_t columns) {
  Columns result(step_time, columns);
  for (std::size_t i = 0; i < timeline.load.size(); ++i) {
    const Nanoseconds end = i + 1 < timeline.load.size() ? timeline.load[i + 1].time : step_time;
    result.raise(timeline.load[i].time, end, timeline.load[i].bytes);
  }
  return result.take();
}

std::string sparkline(const std::vector<Bytes>& values, Bytes top) {
  std::string text;
  const auto full = static_cast<double>(std::max<Bytes>(1, top));
  for (const Bytes value : values) {
    const double share = std::clamp(static_cast<double>(value) / full, 0.0, 1.0);
    const auto steps = static_cast<std::size_t>(share * static_cast<double>(kBars.size() - 1) + 0.5);
    text += kBars[value > 0 ? std::max<std::size_t>(steps, 1) : 0];
  }
  return text;
}

}  // namespace ebb::report
