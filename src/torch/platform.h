// What differs between the CPU and a CUDA device, as far as the adapter is concerned: where ordinary memory
// comes from, how torch is made to ask us for it, generators, and the order of work.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Allocator.h>

#include <functional>
#include <memory>
#include <optional>

#include "backend/backend.h"
#include "machine/machine.h"

namespace ebb::torch_adapter {

// Where a random generator stands. Restoring it makes the same numbers come again.
class GeneratorState {
 public:
  virtual ~GeneratorState() = default;
  virtual void restore() const = 0;
};

// Serves torch's requests for memory on the device. An empty answer: take ordinary memory.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  virtual std::optional<c10::DataPtr> allocate(std::size_t bytes) = 0;
  virtual Bytes bytes_allocated() const = 0;
  virtual Bytes peak_allocated() const = 0;
  virtual void reset_peak() = 0;
  virtual Bytes limit() const = 0;
  // The memory is used on that stream too. false: it is not of this source.
  virtual bool record_stream(const c10::DataPtr& memory, void* stream) = 0;
};

// Work of the device that was captured, to be enqueued as a whole, on the same addresses.
class CapturedWork {
 public:
  virtual ~CapturedWork() = default;
  // On the backend's compute engine. false: the device did not take it, and nothing is done. Throws
  // BackendError where it took only a part.
  [[nodiscard]] virtual bool enqueue() = 0;
};

// Frees memory of a source by its address, unless somebody else will. false: it is nobody's.
bool free_block_at(void* address);

class Platform {
 public:
  virtual ~Platform() = default;
  virtual c10::Device device() const = 0;
  virtual std::unique_ptr<Backend> make_backend() = 0;
  // What plans are made for; nothing: what a run's own copies show.
  virtual std::optional<Machine> machine() { return std::nullopt; }
  // Memory of the device that a steward takes at most if it was given no limit.
  virtual Bytes all_memory() const = 0;
  // Memory of the device that torch has allocated otherwise: it counts towards a limit.
  virtual Bytes ordinary_bytes() const { return 0; }
  // From now on torch asks the source, or (nullptr) nobody. REQUIRES: the source lives until then.
  virtual void serve_from(MemorySource* source) = 0;
  virtual c10::DataPtr allocate_ordinary(std::size_t bytes) = 0;
  // Is this memory of torch's own allocator that nobody but its storage can point to?
  virtual bool may_adopt(const c10::DataPtr& memory) const = 0;
  // Within the device, in the order of its work; done when it returns.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  // Where work has streams: what is enqueued from now on, on the program's current stream or on the backend's
  // compute engine, comes after what is there now on the other.
  virtual void order_current_after_compute() {}
  virtual void order_compute_after_current() {}
  virtual void order_compute_after(void* /*stream*/) {}
  // Captures what `work` enqueues on the program's current stream, which is not done. Null: it cannot be.
  virtual std::shared_ptr<CapturedWork> capture(std::function<void()> work) = 0;
  // Of the generator given, or of the device's default one.
  virtual std::unique_ptr<GeneratorState> save_generator(const std::optional<at::Generator>& generator) = 0;
};

std::unique_ptr<Platform> make_cpu_platform();
// Throws BackendError where the adapter was built for a PyTorch without CUDA.
std::unique_ptr<Platform> make_cuda_platform(int index);

}  // namespace ebb::torch_adapter
