// Counts and times the calls of a backend: what of a Device's time is the driver's. Each time is too long by
// one reading of the clock, and costs the caller two.
#pragma once

#include <array>
#include <chrono>

#include "backend/forwarding_backend.h"

namespace ebb {

enum class BackendCall : char { copy, record, wait, happened, elapsed };
inline constexpr std::size_t kBackendCalls = 5;
inline constexpr std::array<const char*, kBackendCalls> kBackendCallNames = {"copy", "record", "wait",
                                                                             "happened", "elapsed"};

struct CallTimes {
  std::int64_t calls = 0;
  Nanoseconds time = 0;
};

class TimedBackend final : public ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;

  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) override {
    const Timer timer(*this, BackendCall::copy);
    inner().copy(engine, to, from, bytes);
  }
  Event record(Engine engine, Stamp stamp = Stamp::none) override {
    const Timer timer(*this, BackendCall::record);
    return inner().record(engine, stamp);
  }
  void wait(Engine engine, Event event) override {
    const Timer timer(*this, BackendCall::wait);
    inner().wait(engine, event);
  }
  bool happened(Event event) override {
    const Timer timer(*this, BackendCall::happened);
    return inner().happened(event);
  }
  Nanoseconds elapsed(Event from, Event to) override {
    const Timer timer(*this, BackendCall::elapsed);
    return inner().elapsed(from, to);
  }

  std::array<CallTimes, kBackendCalls> take() { return std::exchange(times_, {}); }

 private:
  struct Timer {
    Timer(TimedBackend& b, BackendCall c) : backend(b), call(c) {}
    ~Timer() {
      CallTimes& times = backend.times_[static_cast<std::size_t>(call)];
      times.time += (std::chrono::steady_clock::now() - begin) / std::chrono::nanoseconds(1);
      ++times.calls;
    }
    TimedBackend& backend;
    BackendCall call;
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  };
  std::array<CallTimes, kBackendCalls> times_ = {};
};

}  // namespace ebb
