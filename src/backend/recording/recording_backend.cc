#include "backend/recording/recording_backend.h"

#include "backend/events.h"

namespace ebb {

using Function = BackendCall::Function;

std::string describe(const BackendCall& call) {
  switch (call.function) {
    case Function::reserve:
      return "reserve " + std::to_string(call.bytes);
    case Function::host_slab:
      return "host_slab " + std::to_string(call.bytes);
    case Function::copy:
      return std::string("copy ") + name_of(call.engine) + " " + std::to_string(call.bytes);
    case Function::record:
      return "record " + describe(call.event);
    case Function::wait:
      return std::string("wait ") + name_of(call.engine) + " for " + describe(call.event);
    case Function::happened:
      return "happened " + describe(call.event);
    case Function::synchronize:
      return "synchronize " + describe(call.event);
    case Function::elapsed:
      return "elapsed " + describe(call.event);
  }
  return "unknown call";
}

std::byte* RecordingBackend::reserve(Bytes bytes) {
  std::byte* memory = inner().reserve(bytes);
  log({.function = Function::reserve, .bytes = bytes, .to = memory});
  return memory;
}

std::byte* RecordingBackend::host_slab(Bytes bytes) {
  std::byte* memory = inner().host_slab(bytes);
  log({.function = Function::host_slab, .bytes = bytes, .to = memory});
  return memory;
}

void RecordingBackend::copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) {
  inner().copy(engine, to, from, bytes);
  log({.function = Function::copy, .engine = engine, .bytes = bytes, .to = to, .from = from});
}

Event RecordingBackend::record(Engine engine, Stamp stamp) {
  const Event event = inner().record(engine, stamp);
  log({.function = Function::record, .engine = engine, .event = event});
  return event;
}

void RecordingBackend::wait(Engine engine, Event event) {
  inner().wait(engine, event);
  log({.function = Function::wait, .engine = engine, .event = event});
}

bool RecordingBackend::happened(Event event) {
  const bool answer = inner().happened(event);
  log({.function = Function::happened, .event = event});
  return answer;
}

void RecordingBackend::synchronize(Event event) {
  inner().synchronize(event);
  log({.function = Function::synchronize, .event = event});
}

Nanoseconds RecordingBackend::elapsed(Event from, Event to) {
  const Nanoseconds time = inner().elapsed(from, to);
  log({.function = Function::elapsed, .event = to});
  return time;
}

std::vector<BackendCall> RecordingBackend::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

void RecordingBackend::forget_calls() {
  const std::lock_guard lock(mutex_);
  calls_.clear();
}

void RecordingBackend::log(const BackendCall& call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(call);
}

}  // namespace ebb
