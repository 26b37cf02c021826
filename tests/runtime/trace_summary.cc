#include "runtime/trace_summary.h"

#include "trace/trace_file.h"

namespace ebb::testing {

TraceSummary summarize_trace_file(const std::string& path) {
  const Trace trace = read_trace(path);
  TraceSummary summary;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    for (const MemoryEvent& event : trace.memory_of(i)) ++(event.is_malloc ? summary.mallocs : summary.frees);
    if (trace.events[i].kind != EventKind::exec) continue;
    summary.ops.push_back(trace.names[trace.events[i].name]);
    summary.duration += trace.events[i].duration;
  }
  return summary;
}

}  // namespace ebb::testing
