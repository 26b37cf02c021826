// Which events of the host backend have happened, and when. Read by the caller, written by whichever thread
// is the engine; its size does not grow.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "backend/events.h"

namespace ebb {

// Of the clock that all times of the host backend are taken from.
Nanoseconds steady_now();

class EventBook {
 public:
  EventBook();

  // REQUIRES: called for an engine's events in the order of their numbers, by one thread per engine.
  void mark_happened(Event event);
  bool happened(Event event) const;
  void wait_for(Event event);
  // REQUIRES: the event has happened and is among the last kElapsedWindow recorded.
  Nanoseconds time_of(Event event) const;

 private:
  static constexpr Event kNobodyWaits = ~Event{0};
  struct EngineEvents {
    std::atomic<Event> last_happened = kHappened;
    Event awaited = kNobodyWaits;  // the first that somebody waits for; guarded by the mutex
    // A ring per engine, not one for all: an event that happens late must not overwrite a younger one of
    // another engine.
    std::vector<Nanoseconds> times;
  };
  std::array<EngineEvents, kEngines> engines_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace ebb
