// Writes down what a program does with a Device as a Trace. Bounded: when there are too many events, the
// older half goes, and what was alive then is malloc'd at the start.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/block.h"
#include "trace/trace.h"

namespace ebb {

struct RecordedAccess {
  Handle block = 0;
  bool reads = false;
  bool writes = false;
  bool side_effect = false;
};

// A malloc or free inside an op.
struct RecordedMemory {
  Handle block = 0;
  Bytes bytes = 0;
  bool is_malloc = false;
};

struct RecordedOp {
  std::string_view name;
  Phase phase = Phase::unknown;
  bool replayable = false;
  bool random = false;
  Nanoseconds issue = 0;  // by Recorder::now
  Bytes workspace = 0;
  std::span<const RecordedAccess> accesses = {};
  std::span<const RecordedMemory> memory = {};
};

class Recorder {
 public:
  static constexpr std::int64_t kUnrecorded = -1;

  // 0 events: paused from the start. `clock`: the host's; empty: the steady one.
  explicit Recorder(std::size_t most_events, std::function<Nanoseconds()> clock = {});
  ~Recorder();

  Nanoseconds now() const;  // since recording began
  void malloc(Handle block, Bytes bytes);
  void free(Handle block);  // nothing happens if it was never told of
  // Returns the event's number, for set_duration.
  std::int64_t exec(const RecordedOp& op);
  void set_duration(std::int64_t event, Nanoseconds duration);
  // What happens from now on is not written down; exec then returns kUnrecorded.
  void pause() { paused_ = true; }
  bool paused() const { return paused_; }
  // It is again. In between, blocks came and went: these are the ones that live now.
  void resume(const BlockTable& blocks);
  // How many events there were so far, forgotten ones included.
  std::int64_t events() const;
  // The last events before number `end`, as a trace of their own; at most so many.
  Trace tail(std::int64_t end, std::size_t most_events) const;

  const Trace& trace() const;
  void write(const std::string& path) const;

 private:
  struct Storage;  // the trace and its builder
  BlockId id_of(Handle block) const;
  void trim();
  // The events [cut, end) with what was alive then malloc'd first. `names` gets the new id of each block.
  std::unique_ptr<Storage> part(std::size_t cut, std::size_t end, std::vector<BlockId>& names) const;

  std::size_t most_events_;
  std::function<Nanoseconds()> clock_;
  std::chrono::steady_clock::time_point start_;
  std::unique_ptr<Storage> storage_;
  HandleMap<BlockId> ids_;
  BlockId next_id_ = 0;
  bool paused_ = false;
  std::int64_t forgotten_ = 0;  // how far event numbers are ahead of the trace's indices
  // Of the op that is written; kept so that it allocates nothing in the long run.
  std::vector<MemoryEvent> memory_;
  std::vector<Access> accesses_;
  std::vector<Handle> freed_;
};

}  // namespace ebb
