#include "backend/host/event_book.h"

#include <algorithm>
#include <chrono>

namespace ebb {

Nanoseconds steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

EventBook::EventBook() {
  for (EngineEvents& engine : engines_) engine.times.resize(kElapsedWindow);
}

void EventBook::mark_happened(Event event) {
  EngineEvents& engine = engines_[index_of(engine_of(event))];
  engine.times[sequence_of(event) % kElapsedWindow] = steady_now();
  std::unique_lock lock(mutex_);  // or a waiter between its check and its sleep would miss it
  engine.last_happened.store(event, std::memory_order_release);
  if (event < engine.awaited) return;  // waking a waiter too early costs microseconds of the link's time
  engine.awaited = kNobodyWaits;
  lock.unlock();
  changed_.notify_all();
}

bool EventBook::happened(Event event) const {
  if (event == kHappened) return true;
  return engines_[index_of(engine_of(event))].last_happened.load(std::memory_order_acquire) >= event;
}

void EventBook::wait_for(Event event) {
  if (happened(event)) return;
  std::unique_lock lock(mutex_);
  EngineEvents& engine = engines_[index_of(engine_of(event))];
  while (!happened(event)) {
    engine.awaited = std::min(engine.awaited, event);
    changed_.wait(lock);
  }
}

Nanoseconds EventBook::time_of(Event event) const {
  return engines_[index_of(engine_of(event))].times[sequence_of(event) % kElapsedWindow];
}

}  // namespace ebb
