// How long compute waited, and for what. Measured by events around each wait, so that it is right where
// compute is not the calling thread.
#pragma once

#include <array>
#include <deque>

#include "backend/backend.h"
#include "simulate/timeline.h"

namespace ebb {

using StallTimes = std::array<Nanoseconds, kStallCauses>;

class StallMeter {
 public:
  // Makes compute wait for the event, and measures it unless the event has happened.
  void wait(Backend& backend, Event event, StallCause cause) {
    if (backend.happened(event)) return backend.wait(Engine::compute, event);
    const Event begin = backend.record(Engine::compute);
    backend.wait(Engine::compute, event);
    const Event end = backend.record(Engine::compute);
    if (samples_.size() < kMostSamples) samples_.push_back({cause, begin, end});
  }

  // Takes in the waits that are over.
  void update(Backend& backend) {
    while (!samples_.empty() && backend.happened(samples_.front().end)) {
      const Sample sample = samples_.front();
      samples_.pop_front();
      try {
        total_[static_cast<std::size_t>(sample.cause)] += backend.elapsed(sample.begin, sample.end);
      } catch (const BackendError&) {
        // Its events lie too far back: it stays unmeasured.
      }
    }
  }

  const StallTimes& total() const { return total_; }  // so far

 private:
  struct Sample {
    StallCause cause = StallCause::room;
    Event begin = kHappened;
    Event end = kHappened;
  };
  static constexpr std::size_t kMostSamples = 4096;
  std::deque<Sample> samples_;
  StallTimes total_ = {};
};

}  // namespace ebb
