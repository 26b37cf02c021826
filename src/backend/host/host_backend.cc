#include "backend/host/host_backend.h"

#include <cstring>
#include <string>

namespace ebb {

HostBackend::HostBackend(const HostOptions& options)
    : host_limit_(options.host_bytes),
      link_(options.link),
      out_(Engine::out, book_, link_),
      in_(Engine::in, book_, link_) {}

std::byte* HostBackend::reserve(Bytes bytes) {
  reservation_.require_none(bytes);
  device_ = AlignedMemory(bytes, "device memory");
  reservation_.set(device_.get(), bytes);
  return device_.get();
}

std::byte* HostBackend::host_slab(Bytes bytes) {
  require_slab_size(bytes);
  const std::lock_guard lock(slabs_mutex_);
  if (host_limit_ > 0 && bytes > host_limit_ - slab_bytes_)
    throw BackendError("host slab of " + std::to_string(bytes) + " bytes: " + std::to_string(slab_bytes_) +
                       " of " + std::to_string(host_limit_) + " bytes of host memory are given out");
  std::byte* slab = slabs_.emplace_back(bytes, "host slab").get();
  slab_bytes_ += bytes;
  return slab;
}

void HostBackend::copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) {
  reservation_.check_copy(engine, to, from, bytes);
  if (engine == Engine::compute)
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  else
    thread_of(engine).push({.to = to, .from = from, .bytes = bytes});
}

Event HostBackend::record(Engine engine, Stamp stamp) {
  const Event event = make_event(++recorded_, engine, stamp);
  if (engine == Engine::compute)
    book_.mark_happened(event);
  else
    thread_of(engine).push({.mark = event});
  return event;
}

void HostBackend::wait(Engine engine, Event event) {
  require_recorded(event, recorded_);
  if (engine == Engine::compute)
    book_.wait_for(event);
  else if (!book_.happened(event))
    thread_of(engine).push({.wait = event});
}

bool HostBackend::happened(Event event) {
  require_recorded(event, recorded_);
  return book_.happened(event);
}

void HostBackend::synchronize(Event event) {
  require_recorded(event, recorded_);
  book_.wait_for(event);
}

Nanoseconds HostBackend::elapsed(Event from, Event to) {
  for (const Event event : {from, to}) {
    require_in_elapsed_window(event, recorded_);
    if (!book_.happened(event)) throw BackendError("elapsed: " + describe(event) + " has not happened");
  }
  return book_.time_of(to) - book_.time_of(from);
}

}  // namespace ebb
