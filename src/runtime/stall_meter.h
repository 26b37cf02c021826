// How long compute waited, and for what. Measured by events around waits, so that it is right where compute
// is not the calling thread.
#pragma once

#include <array>
#include <deque>

#include "backend/backend.h"
#include "runtime/mix.h"
#include "simulate/timeline.h"

namespace ebb {

using StallTimes = std::array<Nanoseconds, kStallCauses>;

class StallMeter {
 public:
  // Makes compute wait for the event. One in `of` such waits is measured and counts for all of them.
  void wait(Backend& backend, Event event, StallCause cause, int of = 1) {
    if (!is_chosen(of) || backend.happened(event)) return backend.wait(Engine::compute, event);
    const Event begin = backend.record(Engine::compute, Stamp::time);
    backend.wait(Engine::compute, event);
    const Event end = backend.record(Engine::compute, Stamp::time);
    if (samples_.size() < kMostSamples) samples_.push_back({cause, of, begin, end});
  }

  // Takes in the waits that are over.
  void update(Backend& backend) {
    while (!samples_.empty() && backend.happened(samples_.front().end)) {
      const Sample sample = samples_.front();
      samples_.pop_front();
      try {
        total_[static_cast<std::size_t>(sample.cause)] +=
            sample.of * backend.elapsed(sample.begin, sample.end);
      } catch (const BackendError&) {
        // Its events lie too far back: it stays unmeasured.
      }
    }
  }

  const StallTimes& total() const { return total_; }  // so far

 private:
  // Not every so-and-so-manyth: iterations with as many waits would always have the same ones measured.
  bool is_chosen(int of) { return mix(0, ++waits_) % static_cast<unsigned>(of) == 0; }

  struct Sample {
    StallCause cause = StallCause::room;
    int of = 1;
    Event begin = kHappened;
    Event end = kHappened;
  };
  static constexpr std::size_t kMostSamples = 4096;
  std::uint64_t waits_ = 0;
  std::deque<Sample> samples_;
  StallTimes total_ = {};
};

}  // namespace ebb
