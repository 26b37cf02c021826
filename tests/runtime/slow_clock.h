// A link that seems slow: measured times of copies are multiplied, nothing else. Makes the pager prefer to
// compute again.
#pragma once

#include "backend/events.h"
#include "backend/forwarding_backend.h"

namespace ebb::testing {

class SlowClock final : public ForwardingBackend {
 public:
  SlowClock(std::unique_ptr<Backend> inner, Nanoseconds times)
      : ForwardingBackend(std::move(inner)), times_(times) {}
  Nanoseconds elapsed(Event from, Event to) override {
    const Nanoseconds time = inner().elapsed(from, to);
    return engine_of(to) == Engine::compute ? time : (time + 1) * times_;
  }

 private:
  Nanoseconds times_;
};

}  // namespace ebb::testing
