// The "device" is an arena in RAM, so that overlap, stalls and limits are real without a GPU. Compute is the
// calling thread itself: its events happen when recorded, its copies are done at once, and `wait` on it
// blocks. Out and in each run on a thread of their own, over an optional emulated link.
//
// Destruction finishes what is enqueued.
#pragma once

#include <mutex>
#include <vector>

#include "backend/aligned_memory.h"
#include "backend/host/copy_thread.h"
#include "backend/reservation.h"

namespace ebb {

struct HostOptions {
  LinkOptions link = {};
  Bytes host_bytes = 0;  // what all slabs together may take; 0 = no limit
};

class HostBackend final : public Backend {
 public:
  explicit HostBackend(const HostOptions& options = {});

  std::byte* reserve(Bytes bytes) override;
  std::byte* host_slab(Bytes bytes) override;
  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) override;
  Event record(Engine engine, Stamp stamp = Stamp::none) override;
  void wait(Engine engine, Event event) override;
  bool happened(Event event) override;
  void synchronize(Event event) override;
  Nanoseconds elapsed(Event from, Event to) override;

 private:
  CopyThread& thread_of(Engine engine) { return engine == Engine::out ? out_ : in_; }

  Bytes host_limit_;
  Reservation reservation_;
  AlignedMemory device_;
  std::uint64_t recorded_ = 0;

  std::mutex slabs_mutex_;  // guards the two below: host_slab may run beside the others
  Bytes slab_bytes_ = 0;
  std::vector<AlignedMemory> slabs_;

  EventBook book_;
  Link link_;
  CopyThread out_;  // last, so that they end first: they use the memory and the events above
  CopyThread in_;
};

}  // namespace ebb
