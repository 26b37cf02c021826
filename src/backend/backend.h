// The seam to a machine's memory and copy engines. Everything above it — arena, pager, plans — is the same
// for all.
//
// A backend has three engines that work in order, each on its own: compute (what the program runs), out
// (device → host) and in (host → device). An event marks a place in an engine's queue and *happens* when all
// before it is done. Nothing here blocks the calling host thread, except `synchronize`, and `wait` on the
// compute engine of backends whose compute is the calling thread itself.
//
// REQUIRES, for all functions: one caller at a time, except that host_slab may run beside the others; memory
// passed to `copy` stays valid, and its source unchanged, until an event recorded after it has happened;
// events come from this backend. Failures throw BackendError with sizes and place. Destruction waits for the
// copies that are enqueued.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "trace/quantities.h"

namespace ebb {

class BackendError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Engine : char { compute, out, in };
inline constexpr std::size_t kEngines = 3;

// Whether an event says when it happened. One that does costs a GPU's queue some microseconds, and several
// times that beside copies; one that does not costs it nothing.
enum class Stamp : char { none, time };

// 0 is an event that has always happened. Numbers grow in the order of recording, over all engines.
using Event = std::uint64_t;
inline constexpr Event kHappened = 0;

class Backend {
 public:
  virtual ~Backend() = default;

  // The device memory that the arena is made of; aligned to at least 512 bytes; given back with the backend.
  // Once per backend.
  virtual std::byte* reserve(Bytes bytes) = 0;
  // Host memory that copies run from and to at full speed; aligned to 4 KiB; given back with the backend. It
  // may take long (pinning costs 0.5-0.9 s per GiB). Copies take other host memory too, but a GPU's then
  // block the caller.
  virtual std::byte* host_slab(Bytes bytes) = 0;
  // Enqueues a copy on an engine: to the host on out, to the device on in, within the device on compute.
  // Checked: the device side lies in the reservation, the host side does not, and the two do not overlap.
  virtual void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) = 0;
  virtual Event record(Engine engine, Stamp stamp = Stamp::none) = 0;
  // What is enqueued on the engine from now on starts after the event.
  virtual void wait(Engine engine, Event event) = 0;
  virtual bool happened(Event event) = 0;
  virtual void synchronize(Event event) = 0;
  // Time from one event to a later one. REQUIRES: both are stamped, have happened and are among the last
  // 65,536 recorded.
  virtual Nanoseconds elapsed(Event from, Event to) = 0;
};

}  // namespace ebb
