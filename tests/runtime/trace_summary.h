// What a trace file says, for tests that cannot include trace/trace.h because they know a backend (both have
// an `Event`).
#pragma once

#include <string>
#include <vector>

#include "trace/quantities.h"

namespace ebb::testing {

struct TraceSummary {
  int mallocs = 0;
  int frees = 0;
  std::vector<std::string> ops;
  Nanoseconds duration = 0;
  bool operator==(const TraceSummary&) const = default;
};

TraceSummary summarize_trace_file(const std::string& path);

}  // namespace ebb::testing
