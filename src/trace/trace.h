// What a runtime saw: mallocs, frees and executed ops, in order, over several iterations. Flat, so that a
// million ops cost about a hundred megabytes and appending costs nothing but a few pushes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/program.h"
#include "trace/quantities.h"

namespace ebb {

enum class EventKind : std::uint8_t { malloc, free, exec };

// A malloc or free, on its own or inside an op. Every malloc brings a new id; ids are never reused and nearly
// dense (block_history.h). What lived before recording began is malloc'd at the start of the trace.
struct MemoryEvent {
  BlockId block = 0;
  Bytes bytes = 0;  // of a malloc; 0 for a free
  bool is_malloc = false;
  bool operator==(const MemoryEvent&) const = default;
};

struct TraceEvent {
  EventKind kind = EventKind::exec;
  Phase phase = Phase::unknown;
  bool replayable = true;
  bool random = false;
  std::uint32_t name = 0;          // exec: index into Trace::names
  std::uint32_t first_access = 0;  // its accesses end where the next event's begin
  std::uint32_t first_memory =
      0;  // exec: mallocs and frees inside it, in order; malloc, free: the event itself
  Nanoseconds duration = 0;
  Nanoseconds issue = 0;  // when the host issued it, counted from the start of the trace
  Bytes workspace = 0;    // peak bytes inside the op beyond its births; recorded, because an op's temporaries
                          // are mallocs and frees inside it only where the recorder saw them
  bool operator==(const TraceEvent&) const = default;
};

// One op as a recorder hands it over.
struct ExecEvent {
  std::string_view name;
  Phase phase = Phase::unknown;
  bool replayable = true;
  bool random = false;
  Nanoseconds duration = 0;
  Nanoseconds issue = 0;
  Bytes workspace = 0;
  std::span<const Access> accesses = {};
  std::span<const MemoryEvent> memory = {};
};

struct Trace {
  std::string name;
  std::vector<std::string> names;
  std::vector<TraceEvent> events;
  std::vector<Access> accesses;
  std::vector<MemoryEvent> memory;
  Bytes unmanaged = 0;

  std::span<const Access> accesses_of(std::size_t event) const;
  std::span<const MemoryEvent> memory_of(std::size_t event) const;
  // The event as a recorder would hand it over. REQUIRES: it is an exec.
  ExecEvent exec_of(std::size_t event) const;
  bool operator==(const Trace&) const = default;
};

// Appends events to a Trace; keeps one entry per op name.
class TraceBuilder {
 public:
  explicit TraceBuilder(Trace& trace) : trace_(trace) {}
  void malloc(BlockId block, Bytes bytes);
  void free(BlockId block);
  void exec(const ExecEvent& event);
  std::uint32_t name_index(std::string_view name);

 private:
  TraceEvent& append(EventKind kind);

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  Trace& trace_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> name_index_;
};

}  // namespace ebb
