// [HOME] fig. 7: what a step is made of under each planner, in percent of it: recomputing, waiting for
// copies, computing beside copies, computing alone. VGG16 at the paper's batch, the others at Capuchin's
// largest.
#include <fmt/format.h>

#include "home_inputs.h"

namespace {

using namespace ebb;
using namespace ebb::papers;

struct Breakdown {
  Nanoseconds recompute = 0, waits = 0, overlap = 0, alone = 0;
};

// Copies of one step: their spans, clipped to it, those that run on wrapped to its start.
std::vector<Span> copies_of(const JudgedPlan& judged) {
  std::vector<Span> copies;
  const Nanoseconds step = judged.step.step_time;
  for (const Span& span : judged.timeline.spans) {
    if (span.lane == Lane::compute) continue;
    copies.push_back({.start = span.start, .end = std::min(span.end, step)});
    if (span.end > step) copies.push_back({.start = 0, .end = span.end - step});
  }
  return copies;
}

Nanoseconds covered(const Span& span, std::vector<Span> copies) {
  std::sort(copies.begin(), copies.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  Nanoseconds total = 0, until = span.start;
  for (const Span& copy : copies) {
    const Nanoseconds from = std::max(copy.start, until), to = std::min(copy.end, span.end);
    if (to <= from) continue;
    total += to - from;
    until = to;
  }
  return total;
}

Breakdown break_down(const JudgedPlan& judged) {
  Breakdown parts;
  const std::vector<Span> copies = copies_of(judged);
  for (const Stall& stall : judged.timeline.stalls) parts.waits += stall.end - stall.start;
  for (const Span& span : judged.timeline.spans) {
    if (span.lane != Lane::compute) continue;
    if (span.replay) {
      parts.recompute += span.end - span.start;
      continue;
    }
    const Nanoseconds beside = covered(span, copies);
    parts.overlap += beside;
    parts.alone += span.end - span.start - beside;
  }
  return parts;
}

}  // namespace

int main() {
  fmt::print(
      "[HOME] fig. 7, percent of the step. The paper, VGG16 at 3950: HOME overlap 57, swapping 0; "
      "SuperNeurons "
      "recomputation 20.5, swapping 9; vDNN swapping 75\n");
  fmt::print("{:<10}{:>6}  {:<14}{:>9}{:>15}{:>12}{:>12}{:>12}\n", "network", "batch", "planner", "step ms",
             "recomputation", "swapping", "overlap", "computation");
  for (const HomeNetwork& network : load_home_networks()) {
    const std::int64_t batch = tight_batch(network);
    for (const char* planner : {"vdnn", "superneurons", "capuchin", "home"}) {
      const auto judged = plan_at(network, batch, planner, {.evaluations = 20'000, .threads = 2});
      fmt::print("{:<10}{:>6}  {:<14}", network.name, batch, planner);
      if (!judged) {
        fmt::print("{:>9}\n", "no plan");
        continue;
      }
      const Breakdown parts = break_down(*judged);
      const auto step = static_cast<double>(judged->step.step_time);
      fmt::print("{:>9.1f}", step / 1e6);
      for (const Nanoseconds part : {parts.recompute, parts.waits, parts.overlap, parts.alone})
        fmt::print("{:>10.1f} %", 100 * static_cast<double>(part) / step);
      fmt::print("\n");
    }
  }
}
