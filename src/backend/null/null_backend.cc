#include "backend/null/null_backend.h"

#include <cstring>

#include "backend/events.h"

namespace ebb {

std::byte* NullBackend::reserve(Bytes bytes) {
  reservation_.require_none(bytes);
  device_ = AlignedMemory(bytes, "device memory");
  reservation_.set(device_.get(), bytes);
  const std::lock_guard lock(mutex_);
  counts_.reserved = bytes;
  return device_.get();
}

std::byte* NullBackend::host_slab(Bytes bytes) {
  require_slab_size(bytes);
  AlignedMemory slab(bytes, "host slab");
  const std::lock_guard lock(mutex_);
  ++counts_.slabs;
  counts_.host_bytes += bytes;
  return slabs_.emplace_back(std::move(slab)).get();
}

void NullBackend::copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) {
  reservation_.check_copy(engine, to, from, bytes);
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
  const std::lock_guard lock(mutex_);
  ++counts_.copies[index_of(engine)];
  counts_.copied[index_of(engine)] += bytes;
}

Event NullBackend::record(Engine engine, Stamp stamp) {
  const std::lock_guard lock(mutex_);
  ++counts_.records[index_of(engine)];
  return make_event(++recorded_, engine, stamp);
}

void NullBackend::wait(Engine engine, Event event) {
  require_recorded(event, recorded_);
  const std::lock_guard lock(mutex_);
  ++counts_.waits[index_of(engine)];
}

bool NullBackend::happened(Event event) {
  require_recorded(event, recorded_);
  const std::lock_guard lock(mutex_);
  ++counts_.queries;
  return true;
}

void NullBackend::synchronize(Event event) {
  require_recorded(event, recorded_);
  const std::lock_guard lock(mutex_);
  ++counts_.synchronizes;
}

Nanoseconds NullBackend::elapsed(Event from, Event to) {
  require_in_elapsed_window(from, recorded_);
  require_in_elapsed_window(to, recorded_);
  return static_cast<Nanoseconds>(sequence_of(to)) - static_cast<Nanoseconds>(sequence_of(from));
}

BackendCounts NullBackend::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace ebb
