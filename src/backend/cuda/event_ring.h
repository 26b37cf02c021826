// CUDA events behind event numbers. A ring of at least kElapsedWindow of them, created on first use; each is
// recorded again only after the event it stood for has happened, so a number whose CUDA event is gone is one
// known to have happened. If the oldest is still pending when its turn comes, the ring grows instead of
// blocking.
#pragma once

#include <array>
#include <vector>

#include "backend/cuda/checked.h"
#include "backend/events.h"

namespace ebb {

class EventRing {
 public:
  // `streams` in the order of Engine.
  EventRing(int device, const std::array<cudaStream_t, kEngines>& streams);
  ~EventRing();
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  Event record(Engine engine, Stamp stamp);
  void wait(Engine engine, Event event);
  bool happened(Event event);
  void synchronize(Event event);
  Nanoseconds elapsed(Event from, Event to);

 private:
  struct Slot {
    std::array<cudaEvent_t, 2> handles = {};  // without the time, and with it
    Event event = kHappened;
  };
  Slot& slot_of(std::uint64_t sequence) { return slots_[sequence % slots_.size()]; }
  // The CUDA event of a number. REQUIRES: not known to have happened, or within the elapsed window.
  cudaEvent_t handle_of(Event event);
  bool known_to_have_happened(Event event) const;
  // A much later event of the same engine, or itself: if it has happened, so have all up to it.
  // REQUIRES: `oldest` is the event that is recorded over next.
  Event later_than(Event oldest);
  void note_happened(Event event);
  void grow();

  int device_;
  std::array<cudaStream_t, kEngines> streams_;
  std::vector<Slot> slots_;
  std::uint64_t recorded_ = 0;
  std::array<Event, kEngines> last_happened_ = {};
  // [waiter][of]: the last event of an engine that another has been made to wait for; earlier ones are
  // implied by it.
  std::array<std::array<Event, kEngines>, kEngines> waited_for_ = {};
};

}  // namespace ebb
