// [SP] fig. 9: overhead against the limit for each priority score and their mix, on VGG16; and §VI-B3: how
// much of the overhead was avoidable, on all networks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "autoswap_inputs.h"
#include "line_chart.h"
#include "plan/turn.h"
#include "planners/swap/candidates.h"

namespace {

using namespace ebb;
using namespace ebb::papers;

constexpr std::array kPlanners = {"autoswap-doa", "autoswap-aoa", "autoswap-wdoa", "autoswap-swdoa",
                                  "autoswap-bo"};

void print_scores(const SpStep& step) {
  const Bytes peak = step.program.peak_demand();
  LineChart chart{.title = "[SP] fig. 9: overhead of VGG16 (CIFAR-10, batch 100)",
                  .x_label = "limit (MiB)",
                  .y_label = "overhead (% of the step)",
                  .lines = {}};
  for (const char* name : kPlanners) chart.lines.push_back({name, {}, Stroke::marked});
  const JudgedPlan once = plan_and_judge(find_planner("autoswap-bo"), step.at(peak), {});
  const double load_min = finding(once, "load_min");
  fmt::print("[SP] fig. 9: overhead in % of the step, VGG16; load_min {:.1f} MiB\n\n{:<8}{:>10}",
             load_min / static_cast<double>(kMiB), "limit", "MiB");
  for (const char* name : kPlanners) fmt::print("{:>16}", name);
  fmt::print("\n");
  double widest = 0, highest = 0;
  for (int percent = 100; percent > 0; percent -= 3) {
    const Bytes limit = peak / 100 * percent;
    if (static_cast<double>(limit) < load_min) break;
    fmt::print("{:>5} % {:>10.1f}", percent, mebibytes(limit));
    double least = HUGE_VAL, most = 0;
    for (std::size_t i = 0; i < kPlanners.size(); ++i) {
      const double overhead =
          overhead_percent(plan_and_judge(find_planner(kPlanners[i]), step.at(limit), {}));
      fmt::print("{:>16.2f}", overhead);
      chart.lines[i].points.push_back({mebibytes(limit), overhead});
      if (i + 1 == kPlanners.size()) continue;
      least = std::min(least, overhead);
      most = std::max(most, overhead);
    }
    widest = std::max(widest, most - least);
    highest = std::max(highest, most);
    fmt::print("\n");
  }
  fmt::print(
      "\nthe four scores differ by at most {:.1f} points (paper: less than 3) and cost at most {:.1f} % "
      "(paper: less than 20)\n\n",
      widest, highest);
  write_chart(pictures() / "autoswap-fig9.svg", chart);
}

struct Forward {
  Nanoseconds waits = 0;   // of compute
  Nanoseconds unused = 0;  // nothing leaves, though an unselected candidate is idle and its copy would fit
};

Forward look_at_forward(const SpStep& step, const JudgedPlan& judged) {
  const PlanningProblem problem = step.at(0);
  const CandidateFinder finder(problem);
  std::vector<bool> selected;
  for (const Decision& decision : judged.lowered.plan.decisions)
    selected.push_back(decision.action == Action::swap);
  const std::vector<Candidate> others =
      finder.find(step.program.peak_op(), kMiB, selected, step.program.load());
  std::vector<Nanoseconds> op_ends(step.program.ops().size());
  std::vector<std::pair<Nanoseconds, Nanoseconds>> busy;
  Nanoseconds forward_end = judged.step.step_time;
  for (const Span& span : judged.timeline.spans) {
    if (span.lane == Lane::compute) op_ends[static_cast<std::size_t>(span.op)] = span.end;
    if (span.lane == Lane::compute && span.op == find_turn(step.program)) forward_end = span.start;
    if (span.lane == Lane::out) busy.emplace_back(span.start, span.end);
  }
  busy.emplace_back(forward_end, forward_end);
  std::vector<bool> used(others.size());
  Forward forward;
  for (const Stall& stall : judged.timeline.stalls)
    if (stall.start < forward_end) forward.waits += stall.end - stall.start;
  Nanoseconds now = 0;
  for (const auto& [start, end] : busy) {
    for (std::size_t i = 0; i < others.size(); ++i) {
      const Gap& gap = step.gaps[others[i].gap];
      const bool idle_before = gap.from > step.program.peak_op();
      const Nanoseconds begin = std::max(now, idle_before ? 0 : op_ends[static_cast<std::size_t>(gap.from)]);
      const Nanoseconds length = step.machine.copy_out_time(others[i].bytes);
      if (used[i] || begin + length > std::min(start, forward_end)) continue;
      used[i] = true;
      forward.unused += length;
      now = begin + length;
    }
    now = std::max(now, end);
  }
  return forward;
}

void print_avoidable(const std::filesystem::path& traces) {
  fmt::print(
      "[SP] §VI-B3: overhead that was avoidable (BO). Paper, VGG16 at 350 of 647 MB (54 %): 7.3 ms overhead, "
      "less than 1.7 ms of it avoidable\n\n");
  fmt::print("{:<10}{:>7}{:>11}{:>13}{:>15}{:>14}{:>16}\n", "network", "limit", "MiB", "overhead ms",
             "in forward ms", "avoidable ms", "% of copies out");
  for (const SpNetwork& network : sp_networks()) {
    const SpStep step = load_sp_step(traces, network);
    for (const int percent : {70, 62, 54, 46}) {
      const Bytes limit = step.program.peak_demand() / 100 * percent;
      const JudgedPlan judged = plan_and_judge(find_planner("autoswap-bo"), step.at(limit), {});
      if (judged.infeasible) continue;
      const Nanoseconds overhead = judged.step.step_time - judged.step.plain_time;
      const Forward forward = look_at_forward(step, judged);
      const Nanoseconds avoidable = std::min(forward.waits, forward.unused);
      const double copies = milliseconds(step.machine.copy_out_time(judged.step.bytes_out));
      fmt::print("{:<10}{:>5} %{:>11.1f}{:>13.2f}{:>15.2f}{:>14.2f}{:>16.1f}\n", network.name, percent,
                 mebibytes(limit), milliseconds(overhead), milliseconds(forward.waits),
                 milliseconds(avoidable), copies > 0 ? 100 * milliseconds(avoidable) / copies : 0.0);
    }
  }
}

}  // namespace

int main() {
  const auto traces = find_traces();
  if (!traces) return 0;
  print_scores(load_sp_step(*traces, sp_networks()[5]));
  print_avoidable(*traces);
}
