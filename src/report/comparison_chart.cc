#include "report/comparison_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "machine/units.h"
#include "report/line_chart.h"

namespace ebb::report {
namespace {

double percent(double part, double whole) { return 100 * part / whole; }

LineChart chart_of(const Comparison& comparison) {
  LineChart chart{
      .title = fmt::format("{} on {}: plain step {}, peak {}", comparison.trace, comparison.machine,
                           format_time(comparison.plain_time), format_bytes(comparison.peak_demand)),
      .x_label = "memory (% of the peak)",
      .y_label = "overhead (%)",
      .lines = {}};
  std::vector<const ComparedLimit*> limits;
  for (const ComparedLimit& limit : comparison.limits) limits.push_back(&limit);
  std::sort(limits.begin(), limits.end(), [](const auto* a, const auto* b) { return a->bytes < b->bytes; });
  const auto add = [&](const std::string& name, Stroke stroke, auto step_time_at) {
    Line line{name, {}, stroke};
    for (const ComparedLimit* limit : limits) {
      const std::optional<Nanoseconds> time = step_time_at(*limit);
      line.points.push_back(
          {percent(static_cast<double>(limit->bytes), static_cast<double>(comparison.peak_demand)),
           time ? percent(static_cast<double>(*time - comparison.plain_time),
                          static_cast<double>(comparison.plain_time))
                : NAN});
    }
    chart.lines.push_back(std::move(line));
  };
  const std::size_t planners = limits.empty() ? 0 : limits.front()->plans.size();
  for (std::size_t p = 0; p < planners; ++p)
    add(limits.front()->plans[p].planner, Stroke::marked, [p](const ComparedLimit& limit) {
      const ComparedPlan& plan = limit.plans[p];
      return plan.feasible() ? std::optional(plan.step.step_time) : std::nullopt;
    });
  add("bound", Stroke::dashed,
      [](const ComparedLimit& limit) { return limit.bounds.best(PlanKind::any).step_time; });
  return chart;
}

}  // namespace

std::string draw_comparisons(const std::vector<Comparison>& comparisons) {
  std::vector<LineChart> charts;
  for (const Comparison& comparison : comparisons) charts.push_back(chart_of(comparison));
  return draw(charts);
}

}  // namespace ebb::report
