// A backend in virtual time: bytes are copied at once, in the order of the calls, while each engine has a
// clock of its own that copies, waits and ops move on. What a step takes on it depends on the order of the
// calls alone, not on the machine the test runs on.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "backend/aligned_memory.h"
#include "backend/events.h"
#include "machine/machine.h"

namespace ebb::testing {

class VirtualBackend final : public Backend {
 public:
  // Without bytes nothing is copied, only timed: for steps larger than this machine's memory.
  explicit VirtualBackend(const Machine& machine, bool has_bytes = true)
      : machine_(machine), has_bytes_(has_bytes) {}

  // Compute always has something left to do. Otherwise the host is as far as compute: the device waits for
  // it.
  void keep_host_ahead() { host_is_ahead_ = true; }

  // An op takes that long.
  void work(Nanoseconds duration) { clock(Engine::compute) += duration; }

  std::byte* reserve(Bytes bytes) override {
    device_ = AlignedMemory(bytes, "device memory");
    return device_.get();
  }
  std::byte* host_slab(Bytes bytes) override { return slabs_.emplace_back(bytes, "host slab").get(); }
  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) override {
    if (has_bytes_) std::memcpy(to, from, static_cast<std::size_t>(bytes));
    if (engine == Engine::out) clock(engine) += machine_.copy_out_time(bytes);
    if (engine == Engine::in) clock(engine) += machine_.copy_in_time(bytes);
  }
  Event record(Engine engine) override {
    times_.push_back(clock(engine));
    return make_event(times_.size(), engine);
  }
  void wait(Engine engine, Event event) override { clock(engine) = std::max(clock(engine), time_of(event)); }
  bool happened(Event event) override {
    const Nanoseconds now = clock(Engine::compute);
    return host_is_ahead_ ? time_of(event) < now : time_of(event) <= now;
  }
  void synchronize(Event event) override { wait(Engine::compute, event); }
  Nanoseconds elapsed(Event from, Event to) override { return time_of(to) - time_of(from); }

 private:
  Nanoseconds& clock(Engine engine) { return clocks_[index_of(engine)]; }
  Nanoseconds time_of(Event event) const {
    return event == kHappened ? 0 : times_[static_cast<std::size_t>(sequence_of(event) - 1)];
  }

  Machine machine_;
  bool has_bytes_;
  bool host_is_ahead_ = false;
  AlignedMemory device_;
  std::deque<AlignedMemory> slabs_;
  std::vector<Nanoseconds> times_;
  std::array<Nanoseconds, kEngines> clocks_ = {};
};

}  // namespace ebb::testing
