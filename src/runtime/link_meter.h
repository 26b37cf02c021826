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
  static constexpr Bytes kLarge = 1 << 20;
  std::deque<Sample> samples_;
  std::array<double, kEngines> nanoseconds_per_byte_ = {0.1, 0.1, 0.1};  // 10 GB/s until measured
  std::array<double, kEngines> of_large_ = {};  // the same of large copies; 0: there was none
};

}  // namespace ebb
