#include "backend/cuda/cuda_backend.h"

#include <mutex>
#include <string>
#include <vector>

#include "backend/cuda/checked.h"
#include "backend/cuda/event_ring.h"
#include "backend/reservation.h"

namespace ebb {
namespace {

constexpr std::uintptr_t kReservationAlignment = 512;
constexpr Bytes kSlabAlignment = 4096;

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
struct FreeDevice {
  void operator()(void* memory) const { cudaFree(memory); }
};
struct FreePinned {
  void operator()(void* memory) const { cudaFreeHost(memory); }
};
using Stream = std::unique_ptr<CUstream_st, DestroyStream>;

Stream make_stream(int device) {
  const CurrentDevice current(device);
  cudaStream_t stream = nullptr;
  checked(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return Stream(stream);
}

cudaMemcpyKind kind_of(Engine engine) {
  if (engine == Engine::out) return cudaMemcpyDeviceToHost;
  return engine == Engine::in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const CudaOptions& options)
      : device_(options.device),
        out_(make_stream(device_)),
        in_(make_stream(device_)),
        streams_{static_cast<cudaStream_t>(options.compute_stream), out_.get(), in_.get()},
        events_(device_, streams_) {}

  ~CudaBackend() override {
    // Copies may be in flight. Errors are not ours to report here: the driver may be shutting down with the
    // process.
    cudaStreamSynchronize(out_.get());
    cudaStreamSynchronize(in_.get());
  }

  std::byte* reserve(Bytes bytes) override {
    reservation_.require_none(bytes);
    const CurrentDevice current(device_);
    void* memory = nullptr;
    checked(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), "cudaMalloc", bytes);
    reserved_.reset(memory);
    if (reinterpret_cast<std::uintptr_t>(memory) % kReservationAlignment != 0)
      throw BackendError("cudaMalloc of " + std::to_string(bytes) + " bytes: not aligned to 512 bytes");
    reservation_.set(static_cast<std::byte*>(memory), bytes);
    return reservation_.begin();
  }

  std::byte* host_slab(Bytes bytes) override {
    require_slab_size(bytes);
    const CurrentDevice current(device_);
    void* memory = nullptr;
    auto room = static_cast<std::size_t>(bytes + kSlabAlignment);  // CUDA promises no alignment
    checked(cudaHostAlloc(&memory, room, cudaHostAllocPortable), "cudaHostAlloc", bytes);
    std::unique_ptr<void, FreePinned> slab(memory);
    std::align(std::size_t{kSlabAlignment}, static_cast<std::size_t>(bytes), memory, room);
    const std::lock_guard lock(slabs_mutex_);
    slabs_.push_back(std::move(slab));
    return static_cast<std::byte*>(memory);
  }

  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) override {
    reservation_.check_copy(engine, to, from, bytes);
    checked(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind_of(engine),
                            streams_[index_of(engine)]),
            "cudaMemcpyAsync", bytes);
  }

  Event record(Engine engine, Stamp stamp = Stamp::none) override { return events_.record(engine, stamp); }
  void wait(Engine engine, Event event) override { events_.wait(engine, event); }
  bool happened(Event event) override { return events_.happened(event); }
  void synchronize(Event event) override { events_.synchronize(event); }
  Nanoseconds elapsed(Event from, Event to) override { return events_.elapsed(from, to); }

 private:
  int device_;
  Reservation reservation_;
  std::unique_ptr<void, FreeDevice> reserved_;
  std::mutex slabs_mutex_;  // host_slab may run beside the others
  std::vector<std::unique_ptr<void, FreePinned>> slabs_;
  Stream out_;
  Stream in_;
  std::array<cudaStream_t, kEngines> streams_;
  EventRing events_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

}  // namespace ebb
