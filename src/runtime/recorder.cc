#include "runtime/recorder.h"

#include <algorithm>
#include <cassert>

#include "trace/trace_file.h"

namespace ebb {

struct Recorder::Storage {
  Trace trace;
  TraceBuilder builder{trace};
  std::vector<Bytes> bytes;  // by id
};

Recorder::Recorder(std::size_t most_events, std::function<Nanoseconds()> clock)
    : most_events_(std::max<std::size_t>(most_events, 2)),
      clock_(std::move(clock)),
      start_(std::chrono::steady_clock::now()),
      storage_(std::make_unique<Storage>()),
      paused_(most_events == 0) {}

Recorder::~Recorder() = default;

const Trace& Recorder::trace() const { return storage_->trace; }

void Recorder::write(const std::string& path) const { write_trace(path, storage_->trace); }

Nanoseconds Recorder::now() const {
  if (clock_) return clock_();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_)
      .count();
}

BlockId Recorder::id_of(Handle block) const {
  const BlockId* id = ids_.find(block);
  assert(id && "a block nobody was told of");
  return *id;
}

void Recorder::malloc(Handle block, Bytes bytes) {
  if (paused_) return;
  trim();
  storage_->builder.malloc(next_id_, bytes);
  storage_->bytes.push_back(bytes);
  ids_.set(block, next_id_++);
}

void Recorder::free(Handle block) {
  if (paused_ || !ids_.contains(block)) return;
  trim();
  storage_->builder.free(id_of(block));
  ids_.erase(block);
}

std::int64_t Recorder::exec(const RecordedOp& op) {
  if (paused_) return kUnrecorded;
  trim();
  std::vector<MemoryEvent>& memory = memory_;
  std::vector<Handle>& freed = freed_;
  memory.clear();
  freed.clear();
  for (const RecordedMemory& event : op.memory) {
    if (event.is_malloc) {
      ids_.set(event.block, next_id_++);
      storage_->bytes.push_back(event.bytes);
    } else {
      freed.push_back(event.block);
    }
    memory.push_back({.block = id_of(event.block), .bytes = event.bytes, .is_malloc = event.is_malloc});
  }
  std::vector<Access>& accesses = accesses_;
  accesses.clear();
  for (const RecordedAccess& access : op.accesses)
    accesses.push_back({.block = id_of(access.block),
                        .reads = access.reads,
                        .writes = access.writes,
                        .side_effect = access.side_effect});
  for (const Handle block : freed) ids_.erase(block);
  storage_->builder.exec({.name = op.name,
                          .phase = op.phase,
                          .replayable = op.replayable,
                          .random = op.random,
                          .issue = op.issue,
                          .workspace = op.workspace,
                          .accesses = accesses,
                          .memory = memory});
  return forgotten_ + static_cast<std::int64_t>(storage_->trace.events.size()) - 1;
}

void Recorder::resume(const BlockTable& blocks) {
  if (!std::exchange(paused_, false)) return;
  const auto lives = [&](Handle handle) {
    const PagedBlock* block = blocks.find(handle);
    return block && !block->freed;
  };
  std::vector<Handle> dead;
  ids_.for_each([&](Handle handle, BlockId) {
    if (!lives(handle)) dead.push_back(handle);
  });
  for (const Handle handle : dead) free(handle);
  blocks.for_each([&](const PagedBlock& block) {
    if (!block.freed && !ids_.contains(block.handle)) malloc(block.handle, block.bytes);
  });
}

void Recorder::set_duration(std::int64_t event, Nanoseconds duration) {
  if (event < forgotten_) return;
  const auto index = static_cast<std::size_t>(event - forgotten_);
  storage_->trace.events[index].duration = std::max<Nanoseconds>(duration, 0);
}

std::int64_t Recorder::events() const {
  return forgotten_ + static_cast<std::int64_t>(storage_->trace.events.size());
}

Trace Recorder::tail(std::int64_t end, std::size_t most_events) const {
  const std::size_t size = storage_->trace.events.size();
  const auto last =
      static_cast<std::size_t>(std::clamp<std::int64_t>(end - forgotten_, 0, events() - forgotten_));
  std::vector<BlockId> names;
  if (last == size && size <= most_events) return storage_->trace;
  return std::move(part(last - std::min(last, most_events), last, names)->trace);
}

std::unique_ptr<Recorder::Storage> Recorder::part(std::size_t cut, std::size_t end,
                                                  std::vector<BlockId>& new_id) const {
  const Trace& old = storage_->trace;
  // Who was alive at the cut.
  std::vector<bool> alive(storage_->bytes.size(), false);
  for (std::size_t i = 0; i < cut; ++i)
    for (const MemoryEvent& event : old.memory_of(i))
      alive[static_cast<std::size_t>(event.block)] = event.is_malloc;

  auto fresh = std::make_unique<Storage>();
  fresh->trace.name = old.name;
  fresh->trace.unmanaged = old.unmanaged;
  new_id.assign(storage_->bytes.size(), -1);
  const auto rename = [&](BlockId id) {
    BlockId& renamed = new_id[static_cast<std::size_t>(id)];
    if (renamed < 0) {
      renamed = static_cast<BlockId>(fresh->bytes.size());
      fresh->bytes.push_back(storage_->bytes[static_cast<std::size_t>(id)]);
    }
    return renamed;
  };
  for (std::size_t id = 0; id < alive.size(); ++id)
    if (alive[id]) fresh->builder.malloc(rename(static_cast<BlockId>(id)), storage_->bytes[id]);
  for (std::size_t i = cut; i < end; ++i) {
    std::vector<MemoryEvent> memory(old.memory_of(i).begin(), old.memory_of(i).end());
    for (MemoryEvent& event : memory) event.block = rename(event.block);
    if (old.events[i].kind == EventKind::malloc) {
      fresh->builder.malloc(memory[0].block, memory[0].bytes);
    } else if (old.events[i].kind == EventKind::free) {
      fresh->builder.free(memory[0].block);
    } else {
      std::vector<Access> accesses(old.accesses_of(i).begin(), old.accesses_of(i).end());
      for (Access& access : accesses) access.block = rename(access.block);
      ExecEvent event = old.exec_of(i);
      event.accesses = accesses;
      event.memory = memory;
      fresh->builder.exec(event);
    }
  }
  return fresh;
}

void Recorder::trim() {
  const std::size_t size = storage_->trace.events.size();
  if (size < most_events_) return;
  const std::size_t cut = size / 2;
  std::vector<BlockId> new_id;
  auto fresh = part(cut, size, new_id);
  // What lives and was in none of the events kept was malloc'd at their start: all have a new id.
  ids_.for_each([&](Handle, BlockId& id) { id = new_id[static_cast<std::size_t>(id)]; });
  next_id_ = static_cast<BlockId>(fresh->bytes.size());
  forgotten_ += static_cast<std::int64_t>(size) - static_cast<std::int64_t>(fresh->trace.events.size());
  storage_ = std::move(fresh);
}

}  // namespace ebb
