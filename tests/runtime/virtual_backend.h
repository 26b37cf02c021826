// A backend in virtual time: bytes are copied at once, in the order of the calls, while each engine has a
// clock of its own that copies, waits and ops move on. What a step takes on it depends on the order of the
// calls alone, not on the machine the test runs on. The host takes no time, unless it is given some: then
// nothing begins before the host has issued it, and events on an engine that is idle happen when they are
// recorded, as on a GPU.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "backend/aligned_memory.h"
#include "backend/events.h"
#include "machine/machine.h"

namespace ebb::testing {

// What the host takes, in virtual time.
struct HostTimes {
  Nanoseconds op = 0;     // to issue an op
  Nanoseconds copy = 0;   // to start a copy
  Nanoseconds event = 0;  // to record one
  std::size_t queue = 0;  // so many ops may wait for compute, then the host waits; 0: none may
};

class VirtualBackend final : public Backend {
 public:
  // Without bytes nothing is copied, only timed: for steps larger than this machine's memory.
  explicit VirtualBackend(const Machine& machine, bool has_bytes = true)
      : machine_(machine), has_bytes_(has_bytes) {}

  // Compute always has something left to do, and the host takes no time. Otherwise the host is as far as
  // compute: the device waits for it.
  void keep_host_ahead() { host_times_ = {.queue = 128}; }
  void set_host(const HostTimes& times) { host_times_ = times; }
  Nanoseconds host_now() const { return host_; }

  // An op takes that long.
  void work(Nanoseconds duration) {
    issue(Engine::compute, host_times_ ? host_times_->op : 0);
    clock(Engine::compute) += duration;
    if (!host_times_) return;
    ends_.push_back(clock(Engine::compute));
    for (; ends_.size() > host_times_->queue; ends_.pop_front()) host_ = std::max(host_, ends_.front());
  }

  std::byte* reserve(Bytes bytes) override {
    device_ = AlignedMemory(bytes, "device memory");
    return device_.get();
  }
  std::byte* host_slab(Bytes bytes) override { return slabs_.emplace_back(bytes, "host slab").get(); }
  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) override {
    if (has_bytes_) std::memcpy(to, from, static_cast<std::size_t>(bytes));
    issue(engine, host_times_ ? host_times_->copy : 0);
    if (engine == Engine::out) clock(engine) += machine_.copy_out_time(bytes);
    if (engine == Engine::in) clock(engine) += machine_.copy_in_time(bytes);
  }
  Event record(Engine engine, Stamp stamp = Stamp::none) override {
    issue(engine, host_times_ ? host_times_->event : 0);
    times_.push_back(clock(engine));
    return make_event(times_.size(), engine, stamp);
  }
  void wait(Engine engine, Event event) override { clock(engine) = std::max(clock(engine), time_of(event)); }
  bool happened(Event event) override {
    if (host_times_) return time_of(event) <= host_;
    return time_of(event) <= clock(Engine::compute);
  }
  void synchronize(Event event) override {
    wait(Engine::compute, event);
    host_ = std::max(host_, time_of(event));
  }
  Nanoseconds elapsed(Event from, Event to) override {
    for (const Event event : {from, to}) require_in_elapsed_window(event, times_.size());
    return time_of(to) - time_of(from);
  }

 private:
  Nanoseconds& clock(Engine engine) { return clocks_[index_of(engine)]; }
  Nanoseconds time_of(Event event) const {
    return event == kHappened ? 0 : times_[static_cast<std::size_t>(sequence_of(event) - 1)];
  }
  // What follows on the engine begins when the host is there.
  void issue(Engine engine, Nanoseconds host_time) {
    if (!host_times_) return;
    host_ += host_time;
    clock(engine) = std::max(clock(engine), host_);
  }

  Machine machine_;
  bool has_bytes_;
  std::optional<HostTimes> host_times_;
  Nanoseconds host_ = 0;          // its clock
  std::deque<Nanoseconds> ends_;  // of the last ops
  AlignedMemory device_;
  std::deque<AlignedMemory> slabs_;
  std::vector<Nanoseconds> times_;
  std::array<Nanoseconds, kEngines> clocks_ = {};
};

}  // namespace ebb::testing
