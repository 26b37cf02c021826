#include "trace/trace.h"

namespace ebb {

std::span<const Access> Trace::accesses_of(std::size_t event) const {
  const std::size_t end = event + 1 < events.size() ? events[event + 1].first_access : accesses.size();
  return {accesses.data() + events[event].first_access, accesses.data() + end};
}

std::span<const MemoryEvent> Trace::memory_of(std::size_t event) const {
  const std::size_t end = event + 1 < events.size() ? events[event + 1].first_memory : memory.size();
  return {memory.data() + events[event].first_memory, memory.data() + end};
}

ExecEvent Trace::exec_of(std::size_t index) const {
  const TraceEvent& event = events[index];
  return {.name = names[event.name],
          .phase = event.phase,
          .replayable = event.replayable,
          .random = event.random,
          .duration = event.duration,
          .issue = event.issue,
          .workspace = event.workspace,
          .accesses = accesses_of(index),
          .memory = memory_of(index)};
}

TraceEvent& TraceBuilder::append(EventKind kind) {
  TraceEvent event;
  event.kind = kind;
  event.first_access = static_cast<std::uint32_t>(trace_.accesses.size());
  event.first_memory = static_cast<std::uint32_t>(trace_.memory.size());
  return trace_.events.emplace_back(event);
}

void TraceBuilder::malloc(BlockId block, Bytes bytes) {
  append(EventKind::malloc);
  trace_.memory.push_back({.block = block, .bytes = bytes, .is_malloc = true});
}

void TraceBuilder::free(BlockId block) {
  append(EventKind::free);
  trace_.memory.push_back({.block = block});
}

void TraceBuilder::exec(const ExecEvent& exec) {
  TraceEvent& event = append(EventKind::exec);
  event.name = name_index(exec.name);
  event.phase = exec.phase;
  event.replayable = exec.replayable;
  event.random = exec.random;
  event.duration = exec.duration;
  event.issue = exec.issue;
  event.workspace = exec.workspace;
  trace_.accesses.insert(trace_.accesses.end(), exec.accesses.begin(), exec.accesses.end());
  trace_.memory.insert(trace_.memory.end(), exec.memory.begin(), exec.memory.end());
}

std::uint32_t TraceBuilder::name_index(std::string_view name) {
  if (const auto known = name_index_.find(name); known != name_index_.end()) return known->second;
  const auto index = static_cast<std::uint32_t>(trace_.names.size());
  trace_.names.emplace_back(name);
  name_index_.emplace(name, index);
  return index;
}

}  // namespace ebb
