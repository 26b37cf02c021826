// Timelines as Chrome trace-event JSON, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
#pragma once

#include <string>
#include <vector>

#include "plan/gaps.h"
#include "simulate/timeline.h"

namespace ebb::report {

// One way the step went: predicted, measured, without a limit. Shown beside the others.
struct Track {
  std::string name;
  const Timeline& timeline;
};

// Lanes of each track: compute (ops, and replays marked as such), copy-out, copy-in, and what compute waited
// for; the load in MiB as a counter where it is known. Times in microseconds from the start of one step.
std::string encode_perfetto(const std::vector<Track>& tracks, const Program& program, const Gaps& gaps);

}  // namespace ebb::report
