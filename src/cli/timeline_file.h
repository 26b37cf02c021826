// A timeline as Chrome trace-event JSON, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
#pragma once

#include <string>

#include "plan/gaps.h"
#include "simulate/timeline.h"

namespace ebb::cli {

// Lanes: compute (ops, and replays marked as such), copy-out, copy-in, and what compute waited for; the load
// in MiB as a counter. Times in microseconds from the start of one steady step.
std::string encode_timeline(const Timeline& timeline, const Program& program, const Gaps& gaps);

}  // namespace ebb::cli
