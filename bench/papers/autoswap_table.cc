// [SP] table II beside ours: how far the load of each network goes down before swapping costs time, with the
// scores mixed by Bayesian optimisation.
#include <fmt/format.h>

#include "autoswap_inputs.h"

namespace {

using namespace ebb;
using namespace ebb::papers;

constexpr double kNoOverhead = 0.1;  // percent of the step

struct Row {
  Bytes all_above = 0;  // no overhead at this limit and all above
  Bytes lowest = 0;     // no overhead at this limit
  double load_min = 0;
};

Row find_limits(const SpStep& step) {
  Row row{step.program.peak_demand(), step.program.peak_demand()};
  bool unbroken = true;
  for (int percent = 99; percent >= 20; --percent) {
    const Bytes limit = step.program.peak_demand() / 100 * percent;
    const JudgedPlan judged = plan_and_judge(find_planner("autoswap-bo"), step.at(limit), {});
    row.load_min = finding(judged, "load_min");
    const bool free = overhead_percent(judged) < kNoOverhead;
    unbroken = unbroken && free;
    if (free) row.lowest = limit;
    if (unbroken) row.all_above = limit;
    if (static_cast<double>(limit) < row.load_min) break;
  }
  return row;
}

double reduction(double before, double after) { return 100 * (1 - after / before); }

}  // namespace

int main() {
  const auto traces = find_traces();
  if (!traces) return 0;
  fmt::print("[SP] table II: load without overhead (below {} % of the step), in steps of 1 % of the peak\n\n",
             kNoOverhead);
  fmt::print("{:<10}{:>9}{:>10}{:>10}{:>14}{:>8}{:>14}{:>8}   paper: load, reduced, %\n", "network",
             "step ms", "peak MiB", "load_min", "all above MiB", "-%", "lowest MiB", "-%");
  for (const SpNetwork& network : sp_networks()) {
    const SpStep step = load_sp_step(*traces, network);
    const Row row = find_limits(step);
    const double peak = mebibytes(step.program.peak_demand());
    fmt::print(
        "{:<10}{:>9.1f}{:>10.1f}{:>10.1f}{:>14.1f}{:>8.1f}{:>14.1f}{:>8.1f}   {:>5.0f} {:>5.0f} {:>5.1f}\n",
        network.name, network.step_ms, peak, row.load_min / static_cast<double>(kMiB),
        mebibytes(row.all_above), reduction(peak, mebibytes(row.all_above)), mebibytes(row.lowest),
        reduction(peak, mebibytes(row.lowest)), network.load_mb, network.reduced_load_mb,
        reduction(network.load_mb, network.reduced_load_mb));
  }
}
