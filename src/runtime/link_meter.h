// How long a copy takes, learned from copies that were made.
#pragma once

#include <array>
#include <deque>
#include <optional>

#include "backend/backend.h"

namespace ebb {

class LinkMeter {
 public:
  // REQUIRES: the events enclose one copy of that many bytes on the engine.
  void add(Engine engine, Event start, Event end, Bytes bytes);
  // Takes in the copies that have ended.
  void update(Backend& backend);
  Nanoseconds estimate(Engine engine, Bytes bytes) const;
  // What a copy takes, however small.
  Nanoseconds latency(Engine engine) const { return estimate(engine, 0); }
  // Bytes a second of large copies, whoever else copied meanwhile; nothing before the first.
  std::optional<Bytes> bandwidth(Engine engine) const;

 private:
  struct Sample {
    Engine engine = Engine::out;
    Event start = kHappened;
    Event end = kHappened;
    Bytes bytes = 0;
  };
  static constexpr std::size_t kMostSamples = 64;
  // Small copies tell the latency, others the rest: a few bytes say nothing of a link's speed.
  struct Link {
    void add(double taken, Bytes copied);
    double latency = 0;
    double time = 1e5, bytes = 1e6;  // of late copies together: 10 GB/s until measured
    double of_large = 0;             // nanoseconds per byte; 0: there was none
  };
  static constexpr Bytes kSmall = 64 << 10;
  static constexpr Bytes kLarge = 1 << 20;

  std::deque<Sample> samples_;
  std::array<Link, kEngines> links_ = {};
};

}  // namespace ebb
