// A wrapper that remembers every call that succeeded, in order: around NullBackend the fake for tests of what
// is issued, around HostBackend the order of issue beside real overlap. Its memory grows with every call.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "backend/forwarding_backend.h"

namespace ebb {

// Fields that a call does not have keep their defaults; `event` is the result of record and the argument of
// the others.
struct BackendCall {
  enum class Function : char { reserve, host_slab, copy, record, wait, happened, synchronize, elapsed };
  Function function = Function::reserve;
  Engine engine = Engine::compute;
  Bytes bytes = 0;
  const std::byte* to = nullptr;  // reserve, host_slab: what was returned
  const std::byte* from = nullptr;
  Event event = kHappened;
  bool operator==(const BackendCall&) const = default;
};

// "copy out 4096", "wait in for out event 3", …
std::string describe(const BackendCall& call);

class RecordingBackend final : public ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;

  std::byte* reserve(Bytes bytes) override;
  std::byte* host_slab(Bytes bytes) override;
  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) override;
  Event record(Engine engine, Stamp stamp = Stamp::none) override;
  void wait(Engine engine, Event event) override;
  bool happened(Event event) override;
  void synchronize(Event event) override;
  Nanoseconds elapsed(Event from, Event to) override;  // logs the later event only

  std::vector<BackendCall> calls() const;
  void forget_calls();

 private:
  void log(const BackendCall& call);

  mutable std::mutex mutex_;  // host_slab may run beside the others
  std::vector<BackendCall> calls_;
};

}  // namespace ebb
