#include "backend/cuda/event_ring.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace ebb {

EventRing::EventRing(int device, const std::array<cudaStream_t, kEngines>& streams)
    : device_(device), streams_(streams), slots_(kElapsedWindow) {}

EventRing::~EventRing() {
  for (const Slot& slot : slots_)
    for (const cudaEvent_t handle : slot.handles)
      if (handle) cudaEventDestroy(handle);
}

Event EventRing::record(Engine engine, Stamp stamp) {
  const Event oldest = slot_of(recorded_ + 1).event;
  if (!known_to_have_happened(oldest) && !happened(later_than(oldest)) && !happened(oldest)) grow();
  Slot& slot = slot_of(recorded_ + 1);
  const bool stamped = stamp == Stamp::time;
  cudaEvent_t& handle = slot.handles[stamped ? 1 : 0];
  if (!handle) {
    const CurrentDevice current(device_);
    const unsigned flags = stamped ? cudaEventDefault : cudaEventDisableTiming;
    checked(cudaEventCreateWithFlags(&handle, flags), "cudaEventCreateWithFlags");
  }
  checked(cudaEventRecord(handle, streams_[index_of(engine)]), "cudaEventRecord");
  slot.event = make_event(++recorded_, engine, stamp);
  return slot.event;
}

void EventRing::wait(Engine engine, Event event) {
  require_recorded(event, recorded_);
  const Engine of = engine_of(event);
  Event& waited_for = waited_for_[index_of(engine)][index_of(of)];
  if (known_to_have_happened(event) || of == engine || event <= waited_for) return;
  checked(cudaStreamWaitEvent(streams_[index_of(engine)], handle_of(event), 0), "cudaStreamWaitEvent");
  waited_for = event;
}

bool EventRing::happened(Event event) {
  require_recorded(event, recorded_);
  if (known_to_have_happened(event)) return true;
  const cudaError_t error = cudaEventQuery(handle_of(event));
  if (error == cudaErrorNotReady) {
    forget_error();
    return false;
  }
  checked(error, "cudaEventQuery");
  note_happened(event);
  return true;
}

void EventRing::synchronize(Event event) {
  require_recorded(event, recorded_);
  if (known_to_have_happened(event)) return;
  checked(cudaEventSynchronize(handle_of(event)), "cudaEventSynchronize");
  note_happened(event);
}

Nanoseconds EventRing::elapsed(Event from, Event to) {
  for (const Event event : {from, to}) {
    require_in_elapsed_window(event, recorded_);
    if (!happened(event)) throw BackendError("elapsed: " + describe(event) + " has not happened");
  }
  float milliseconds = 0;
  checked(cudaEventElapsedTime(&milliseconds, handle_of(from), handle_of(to)), "cudaEventElapsedTime");
  return std::llround(static_cast<double>(milliseconds) * 1e6);
}

cudaEvent_t EventRing::handle_of(Event event) {
  return slot_of(sequence_of(event)).handles[is_stamped(event) ? 1 : 0];
}

bool EventRing::known_to_have_happened(Event event) const {
  return event == kHappened || event <= last_happened_[index_of(engine_of(event))];
}

Event EventRing::later_than(Event oldest) {
  for (std::uint64_t ahead = slots_.size() / 8; ahead > 0; --ahead) {
    const Event later = slot_of(recorded_ + 1 + ahead).event;
    if (later != kHappened && engine_of(later) == engine_of(oldest)) return later;
  }
  return oldest;
}

void EventRing::note_happened(Event event) {
  Event& last = last_happened_[index_of(engine_of(event))];
  last = std::max(last, event);
}

void EventRing::grow() {
  std::vector<Slot> wider(slots_.size() * 2);
  for (const Slot& slot : slots_) wider[sequence_of(slot.event) % wider.size()] = slot;
  slots_.swap(wider);
}

}  // namespace ebb
