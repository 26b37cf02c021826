// CUDA events behind event numbers. A ring of at least kElapsedWindow of them, created on first use; each is
// recorded again only after the event it stood for has happened, so a number whose CUDA event is gone is one
// known to have happened. If the oldest is still pending when its turn comes, the ring grows instead of
// blocking.
//
// Events of the copy streams are recorded by the issuer, a little later than here: what needs one to have
// been recorded waits for that, which is over in microseconds, and until then it has not happened.
#pragma once

#include <array>
#include <vector>

#include "backend/cuda/driver_call.h"
#include "backend/events.h"

namespace ebb {

class EventRing {
 public:
  // `streams` in the order of Engine. REQUIRES: the issuer outlives the ring.
  EventRing(int device, const std::array<cudaStream_t, kEngines>& streams, CopyIssuer& issuer);
  ~EventRing();
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  Event record(Engine engine);
  void wait(Engine engine, Event event);
  bool happened(Event event);
  void synchronize(Event event);
  Nanoseconds elapsed(Event from, Event to);

 private:
  struct Slot {
    cudaEvent_t handle = nullptr;
    Event event = kHappened;
    Ticket recorded_by = 0;  // the issuer; 0: at once
  };
  Slot& slot_of(std::uint64_t sequence) { return slots_[sequence % slots_.size()]; }
  // The CUDA event of a number. REQUIRES: not known to have happened, or within the elapsed window.
  cudaEvent_t handle_of(Event event);
  bool known_to_have_happened(Event event) const;
  // A much later event of the same engine, or itself: what it says holds for all of them up to it.
  // REQUIRES: `oldest` is the event that is recorded over next.
  Event later_than(Event oldest);
  void note_happened(Event event);
  void grow();

  static constexpr std::uint64_t kLead = 1024;  // events that may be recorded while the issuer does nothing

  int device_;
  CopyIssuer& issuer_;
  std::array<cudaStream_t, kEngines> streams_;
  std::vector<Slot> slots_;
  std::uint64_t recorded_ = 0;
  std::array<Event, kEngines> last_happened_ = {};
  // [waiter][of]: the last event of an engine that another has been made to wait for; earlier ones are
  // implied by it.
  std::array<std::array<Event, kEngines>, kEngines> waited_for_ = {};
};

}  // namespace ebb
