// A device whose memory keeps a limit: malloc, free and exec as [SP] §V has them. Blocks that are not in use
// move to the host, or are dropped and computed again, and the program sees the same bytes as without a limit
// (docs/notes/runtime.md).
//
//   Device device(backend, {.limit = 64 * kMiB});
//   const Handle a = device.malloc(n), b = device.malloc(n);
//   device.exec({.name = "double", .replayable = true}, {{a}}, {{b}},
//               [=](ExecContext& c) { double_all(c.data(b), c.data(a), n); });
//
// Content changes only by exec — operands it writes, blocks born in it — and through pins for writing.
// Thread-safe: any thread may call at any time; calls, exec included, run one at a time, so an op's function
// must not wait for another thread that uses the Device. A function may call the Device, which then acts as
// its context.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "runtime/block.h"
#include "runtime/exec.h"
#include "runtime/followed_step.h"
#include "runtime/out_of_memory.h"
#include "runtime/plan_function.h"
#include "runtime/statistics.h"
#include "runtime/status.h"
#include "runtime/surprises.h"

namespace ebb {

class PlanExchange;
struct Trace;

struct DeviceOptions {
  Bytes limit = 0;       // of device memory
  Bytes host_limit = 0;  // of host memory; 0 = none
  Mode mode = Mode::reactive;
  bool allow_recompute = false;
  Bytes smallest_managed = 64 * kKiB;  // smaller blocks are no victims, except to compact
  // For so many ops after its last use a smaller block stays, for readers that are no ops.
  std::int64_t small_rest = 0;
  Bytes host_slab = 256 * kMiB;       // host memory is taken in pieces of at least this
  std::size_t recipe_steps = 65'536;  // op instances remembered for recomputation
  // Recorded, then the older half is forgotten; 0: nothing is, which Mode::planned cannot do with.
  std::size_t trace_events = 1'000'000;
  bool trace_plans = false;  // recorded while a plan is followed too, which costs the host time
  bool time_ops = true;      // for the trace; a plan and recomputation have them timed anyway
  std::uint64_t seed = 0;    // of the ops' seeds
  std::function<Nanoseconds()> clock = {};  // that ops are issued by; empty: the steady one
  // Told when a block that has content gets another address, or nullptr: it left. Under the device's lock; it
  // must not call the device. Blocks that the program does not know (temporaries) are reported too.
  std::function<void(Handle, std::byte*)> on_move = {};
  // Mode::planned only.
  std::string planner = {};                     // by name; empty: the default
  PlanFunction plan = {};                       // instead of a planner by name
  std::optional<Machine> machine = {};          // what plans are made for; nothing: links as measured
  double planning_seconds = 10;                 // a search may take, in the background
  std::shared_ptr<PlanExchange> exchange = {};  // with devices of other processes that run the same iteration
  std::string kept_plans = {};                  // a folder, of plans for later runs; empty: none are kept
  bool link_is_shared = false;                  // plans trust this run's own copies more than the machine
  // Compute is an engine of its own, and the host that feeds it is ahead of it: issue times say how long the
  // host waited rather than how long it took, and plans are made without them.
  bool host_is_ahead = false;
};

enum class PinFor : char { reading, writing };

class Device;

// Keeps a block resident, at one address, while it lives. Move-only; must not outlive its Device.
class Pin {
 public:
  Pin() = default;
  Pin(Pin&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)),
        block_(other.block_),
        purpose_(other.purpose_),
        data_(std::exchange(other.data_, nullptr)) {}
  Pin& operator=(Pin&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(block_, other.block_);
    std::swap(purpose_, other.purpose_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Pin() { release(); }
  std::byte* data() const { return data_; }
  void release();

 private:
  friend class Device;
  Pin(Device& device, Handle block, PinFor purpose, std::byte* data)
      : device_(&device), block_(block), purpose_(purpose), data_(data) {}
  Device* device_ = nullptr;
  Handle block_ = 0;
  PinFor purpose_ = PinFor::reading;
  std::byte* data_ = nullptr;
};

class Device {
 public:
  // REQUIRES: the backend outlives the device and has reserved nothing yet.
  Device(Backend& backend, const DeviceOptions& options);
  ~Device();

  // Throws OutOfMemory if all that could leave does not suffice; InputError if bytes < 0.
  Handle malloc(Bytes bytes);
  // A pinned block's memory goes with its last pin. Throws InputError if there is no such block.
  void free(Handle block);
  // Runs the function with all operands resident. What the function throws passes through; blocks it malloc'd
  // and did not free then stay, and what it was to write counts as changed. Throws OutOfMemory naming the op,
  // its bytes and the limit.
  void exec(const OpInfo& info, std::span<const Handle> reads, std::span<const Handle> writes,
            const ExecFunction& function);
  // For use outside of ops. The bytes are there in the order of the compute engine: on a backend where
  // compute is not the calling thread, a host-side reader synchronizes first.
  [[nodiscard]] Pin pin(Handle block, PinFor purpose);

  // All that is not pinned leaves, and what only a plan keeps goes: the worst case, for tests. Nothing
  // happens inside an op.
  void evict_all();
  // Afterwards no copy is under way and no block is dropped, so that `readable` answers for all of them.
  void settle();
  // Where the bytes of a block are, on the device or on the host, until the next call that could move it.
  // REQUIRES: settled.
  const std::byte* readable(Handle block) const;

  BlockState state(Handle block) const;
  // What would have had to stay on the device beside the last op, whatever the limit: pinned by the program,
  // or small and just used.
  Bytes bytes_that_stay() const;
  DeviceStatistics statistics() const;
  // What is known of the iteration and its plan; without Mode::planned, the mode alone.
  DeviceStatus status() const;
  // The last iterations, at most 1024, oldest first. An iteration ends where its first op begins anew, which
  // the device finds by itself.
  std::vector<IterationStatistics> iterations() const;
  // A planned iteration as predicted and as measured; nothing if there was none yet.
  std::optional<StepComparison> comparison() const;
  // Nothing if no iteration is known.
  std::optional<FollowedStep> followed() const;
  // The last things that happened under a plan without being in it.
  std::vector<Surprise> surprises() const;
  // What the program did so far; valid until the next call of the device.
  const Trace& trace() const;
  void write_trace(const std::string& path) const;  // trace/trace_file.h; throws SystemError
  // Waits until all that was enqueued on compute is done.
  void synchronize();
  // A search under way ends, and none begins any more; a plan that is followed stays. For the end of a
  // program, where a thread that goes on would find its surroundings gone.
  void stop_planning();

 private:
  friend class Pin;
  void unpin(Handle block, PinFor purpose);

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

inline void Pin::release() {
  if (Device* device = std::exchange(device_, nullptr)) device->unpin(block_, purpose_);
  data_ = nullptr;
}

}  // namespace ebb
