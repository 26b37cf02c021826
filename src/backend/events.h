// How backends number events: the order of recording, with the engine in the two lowest bits and the stamp in
// the third, so that numbers grow over all engines and neither needs a look-up. An engine's events happen in
// the order of their numbers, so "the last that happened" per engine is all that has to be remembered.
#pragma once

#include <string>

#include "backend/backend.h"

namespace ebb {

inline constexpr std::uint64_t kElapsedWindow = 65'536;  // how many events back `elapsed` can answer

inline constexpr std::size_t index_of(Engine engine) { return static_cast<std::size_t>(engine); }
const char* name_of(Engine engine);

// REQUIRES: sequence >= 1.
inline constexpr Event make_event(std::uint64_t sequence, Engine engine, Stamp stamp) {
  return sequence << 3 | (stamp == Stamp::time ? 4 : 0) | index_of(engine);
}
inline constexpr std::uint64_t sequence_of(Event event) { return event >> 3; }
inline constexpr bool is_stamped(Event event) { return (event & 4) != 0; }
inline constexpr Engine engine_of(Event event) { return static_cast<Engine>(event & 3); }

// A place in the compute engine's queue that nobody has recorded yet: the `tick`-th, counted by whoever feeds
// the engine. Only that one can turn it into an event that a backend knows. REQUIRES: tick >= 1.
inline constexpr Event kUnrecorded = Event{1} << 63;
inline constexpr Event unrecorded(std::uint64_t tick) {
  return kUnrecorded | tick << 2 | index_of(Engine::compute);
}
inline constexpr bool is_unrecorded(Event event) { return (event & kUnrecorded) != 0; }
inline constexpr std::uint64_t tick_of(Event event) { return (event & ~kUnrecorded) >> 2; }

// "out event 17", for messages.
std::string describe(Event event);

// Throws unless the event is one of the `recorded` so far: a wait for one that never comes would hang without
// a message.
void require_recorded(Event event, std::uint64_t recorded);

// Throws unless `elapsed` may be asked about the event when `recorded` events have been recorded.
void require_in_elapsed_window(Event event, std::uint64_t recorded);

}  // namespace ebb
