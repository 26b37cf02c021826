#include "backend/events.h"

namespace ebb {

const char* name_of(Engine engine) {
  switch (engine) {
    case Engine::compute:
      return "compute";
    case Engine::out:
      return "out";
    case Engine::in:
      return "in";
  }
  return "unknown engine";
}

std::string describe(Event event) {
  return std::string(name_of(engine_of(event))) + " event " + std::to_string(sequence_of(event));
}

void require_recorded(Event event, std::uint64_t recorded) {
  if (sequence_of(event) > recorded)
    throw BackendError(describe(event) + " has not been recorded; " + std::to_string(recorded) +
                       " events have");
}

void require_in_elapsed_window(Event event, std::uint64_t recorded) {
  const std::uint64_t sequence = sequence_of(event);
  if (sequence >= 1 && !is_stamped(event))
    throw BackendError("elapsed: " + describe(event) + " was recorded without its time");
  if (sequence >= 1 && sequence <= recorded && recorded - sequence < kElapsedWindow) return;
  throw BackendError("elapsed: " + describe(event) + " is not among the last " +
                     std::to_string(kElapsedWindow) + " of " + std::to_string(recorded) + " recorded events");
}

}  // namespace ebb
