// The backend with nothing behind it: plain memory, copies done before `copy` returns, events that have
// happened when they are recorded. It counts what it is asked for; RecordingBackend around it is the fake
// that remembers every call.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "backend/aligned_memory.h"
#include "backend/backend.h"
#include "backend/reservation.h"

namespace ebb {

// Arrays are per engine, in the order of Engine.
struct BackendCounts {
  Bytes reserved = 0;
  Bytes host_bytes = 0;
  std::int64_t slabs = 0;
  std::array<std::int64_t, kEngines> copies = {};
  std::array<Bytes, kEngines> copied = {};
  std::array<std::int64_t, kEngines> records = {};
  std::array<std::int64_t, kEngines> waits = {};
  std::int64_t queries = 0;
  std::int64_t synchronizes = 0;
  bool operator==(const BackendCounts&) const = default;
};

class NullBackend final : public Backend {
 public:
  std::byte* reserve(Bytes bytes) override;
  std::byte* host_slab(Bytes bytes) override;
  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) override;
  Event record(Engine engine, Stamp stamp = Stamp::none) override;
  void wait(Engine engine, Event event) override;
  bool happened(Event event) override;
  void synchronize(Event event) override;
  // Events lie a nanosecond apart, in the order of recording, so that results are the same in every run.
  Nanoseconds elapsed(Event from, Event to) override;

  BackendCounts counts() const;

 private:
  Reservation reservation_;
  AlignedMemory device_;
  std::uint64_t recorded_ = 0;

  mutable std::mutex mutex_;  // guards the two below: host_slab may run beside the others
  BackendCounts counts_;
  std::vector<AlignedMemory> slabs_;
};

}  // namespace ebb
