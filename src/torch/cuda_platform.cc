// The adapter on a CUDA device, for PyTorch 2.x. Not compiled where torch has no CUDA.
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "backend/cuda/checked.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/launch_list.h"
#include "runtime/measured_machine.h"
#include "torch/cuda_forwarding.h"
#include "torch/platform.h"
#include "torch/torch_version.h"

namespace ebb::torch_adapter {
namespace {

namespace caching = c10::cuda::CUDACachingAllocator;
using Stream = c10::cuda::CUDAStream;

// Largest workspace that cuDNN's benchmark mode is told it may have, as a part of the limit. Any constant
// will do, as long as it does not depend on what is free at the moment.
constexpr Bytes kWorkspacePart = 4;

class Allocator;
void free_address(void* address);

// In front of torch's allocator: serves the managed device from the source and hands everything else on.
class Allocator final : public ForwardingAllocator {
 public:
  using ForwardingAllocator::ForwardingAllocator;

  void serve_from(MemorySource* source, int device) {
    device_ = device;
    is_only_device_ = c10::cuda::device_count() == 1;
    source_.store(source, std::memory_order_release);
  }

  c10::DataPtr allocate(std::size_t bytes) EBB_ALLOCATE_CONST override {
    if (MemorySource* source = source_here())
      if (std::optional<c10::DataPtr> memory = source->allocate(bytes)) return std::move(*memory);
    return native().allocate(bytes);
  }
  void* raw_alloc(std::size_t bytes) override {
    if (source_here()) return allocate(bytes).release_context();
    return native().raw_alloc(bytes);
  }
  void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t stream) override {
    if (!source_here()) return native().raw_alloc_with_stream(bytes, stream);
    c10::DataPtr memory = allocate(bytes);
    // Whatever stream it is: once noted, it is waited for when the memory goes.
    source_here()->record_stream(memory, stream);
    return memory.release_context();
  }
  void raw_delete(void* address) override { free_address(address); }
  c10::DeleterFnPtr raw_deleter() const override { return &free_address; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    native().copy_data(to, from, bytes);
  }
  void recordStream(const c10::DataPtr& memory, Stream stream) override {
    MemorySource* source = source_.load(std::memory_order_acquire);
    if (source && source->record_stream(memory, stream.stream())) return;
    native().recordStream(memory, stream);
  }
  void cacheInfo(c10::DeviceIndex device, std::size_t* largest) override {
    MemorySource* source = source_.load(std::memory_order_acquire);
    if (!source || device != device_) return native().cacheInfo(device, largest);
    *largest = static_cast<std::size_t>(source->limit() / kWorkspacePart);
  }
  caching_stats getDeviceStats(c10::DeviceIndex device) override {
    caching_stats stats = native().getDeviceStats(device);
    MemorySource* source = source_.load(std::memory_order_acquire);
    if (!source || device != device_) return stats;
    auto& allocated = stats.allocated_bytes[0];  // of all pools
    allocated.current += source->bytes_allocated();
    allocated.peak += source->peak_allocated();
    auto& reserved = stats.reserved_bytes[0];
    reserved.current += source->limit();
    reserved.peak += source->limit();
    return stats;
  }
  void resetPeakStats(c10::DeviceIndex device) override {
    native().resetPeakStats(device);
    MemorySource* source = source_.load(std::memory_order_acquire);
    if (source && device == device_) source->reset_peak();
  }

 protected:
  // Captured kernels would remember addresses.
  void refuse_pools() const override {
    TORCH_CHECK(
        !source_.load(std::memory_order_acquire),
        "CUDA graphs and memory pools cannot be used while Ebb keeps a limit: they remember addresses, "
        "and tensors move");
  }

 private:
  MemorySource* source_here() const {
    MemorySource* source = source_.load(std::memory_order_acquire);
    return source && (is_only_device_ || c10::cuda::current_device() == device_) ? source : nullptr;
  }
  std::atomic<MemorySource*> source_ = nullptr;
  std::atomic<int> device_ = 0;
  std::atomic<bool> is_only_device_ = false;  // then the current one need not be asked for
};

// Lives for ever: storages keep a pointer to the allocator they came from.
Allocator& allocator() {
  static auto* instance = new Allocator(*caching::get());
  return *instance;
}

void free_address(void* address) {
  if (address && !free_block_at(address)) allocator().native().raw_delete(address);
}

class CudaGeneratorState final : public GeneratorState {
 public:
  explicit CudaGeneratorState(at::Generator generator) : generator_(std::move(generator)) {
    const std::lock_guard lock(generator_.mutex());
    seed_ = generator_.current_seed();
    offset_ = generator_.get_offset();
  }
  void restore() const override {
    at::Generator generator = generator_;
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(seed_);
    generator.set_offset(offset_);
  }

 private:
  at::Generator generator_;
  std::uint64_t seed_ = 0;
  std::uint64_t offset_ = 0;
};

class CapturedLaunches final : public CapturedWork {
 public:
  CapturedLaunches(std::unique_ptr<LaunchList> launches, int device, cudaStream_t onto)
      : launches_(std::move(launches)), device_(device), onto_(onto) {}
  bool enqueue() override {
    const CurrentDevice current(device_);  // the driver's calls are made in this thread's context
    return launches_->launch(onto_);
  }

 private:
  std::unique_ptr<LaunchList> launches_;
  int device_;
  cudaStream_t onto_;
};

// A stream that nobody else uses: the default one cannot be captured, and torch's are given to programs.
class CaptureStream {
 public:
  explicit CaptureStream(c10::DeviceIndex device) {
    checked(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    torch_ = c10::cuda::getStreamFromExternal(stream_, device);
  }
  ~CaptureStream() { cudaStreamDestroy(stream_); }
  CaptureStream(const CaptureStream&) = delete;
  CaptureStream& operator=(const CaptureStream&) = delete;

  // Null: it could not be captured. Other threads may do whatever they like meanwhile.
  std::unique_ptr<LaunchList> capture(const std::function<void()>& work) {
    cudaGraph_t graph = nullptr;
    bool done = false;
    if (cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed) == cudaSuccess) {
      try {
        const c10::cuda::CUDAStreamGuard onto(*torch_);
        work();
        done = true;
      } catch (...) {
        // What the op does cannot be captured: it waits for the device, say.
      }
      done = cudaStreamEndCapture(stream_, &graph) == cudaSuccess && done;
    }
    if (done) return LaunchList::of(graph);
    if (graph) cudaGraphDestroy(graph);
    forget_error();
    return nullptr;
  }

 private:
  cudaStream_t stream_ = nullptr;
  std::optional<Stream> torch_;
};

class CudaPlatform final : public Platform {
 public:
  explicit CudaPlatform(int index)
      : index_(static_cast<c10::DeviceIndex>(index)), compute_(c10::cuda::getCurrentCUDAStream(index_)) {}

  c10::Device device() const override { return c10::Device(c10::DeviceType::CUDA, index_); }
  std::unique_ptr<Backend> make_backend() override {
    const c10::cuda::CUDAGuard guard(index_);
    return make_cuda_backend({.device = index_, .compute_stream = compute_.stream()});
  }
  std::optional<Machine> machine() override {
    static std::map<int, Machine> machines;  // measured once
    const auto known = machines.find(index_);
    if (known != machines.end()) return known->second;
    const std::unique_ptr<Backend> backend = make_backend();
    Machine machine = measured_machine(*backend, {.copy = 8 * kMiB, .copies = 24, .small_copies = 40});
    machine.name = "this GPU";
    machine.source = "measured when Ebb started";
    return machines.emplace(index_, machine).first->second;
  }
  Bytes all_memory() const override {
    const c10::cuda::CUDAGuard guard(index_);
    caching::emptyCache();
    return free_memory() / 10 * 9;
  }
  Bytes ordinary_bytes() const override {
    return allocator().native().getDeviceStats(index_).allocated_bytes[0].current;
  }
  void serve_from(MemorySource* source) override {
    allocator().serve_from(source, index_);
    caching::allocator.store(&allocator());
#if EBB_TORCH_AT_LEAST(2, 9)
    c10::SetAllocator(c10::DeviceType::CUDA, &allocator(), 200);
#endif
  }
  c10::DataPtr allocate_ordinary(std::size_t bytes) override {
    const c10::cuda::CUDAGuard guard(index_);
    return allocator().native().allocate(bytes);
  }
  bool may_adopt(const c10::DataPtr& memory) const override {
    return memory.get_deleter() == allocator().native().raw_deleter() && memory.get() == memory.get_context();
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    const c10::cuda::CUDAGuard guard(index_);
    order_current_after_compute();
    checked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, compute_.stream()), "cudaMemcpyAsync",
            static_cast<Bytes>(bytes));
    checked(cudaStreamSynchronize(compute_.stream()), "cudaStreamSynchronize");
  }
  void order_current_after_compute() override { order(compute_, c10::cuda::getCurrentCUDAStream(index_)); }
  void order_compute_after_current() override { order(c10::cuda::getCurrentCUDAStream(index_), compute_); }
  void order_compute_after(void* stream) override {
    order(c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(stream), index_), compute_);
  }
  std::shared_ptr<CapturedWork> capture(std::function<void()> work) override {
    const c10::cuda::CUDAGuard guard(index_);
    try {
      if (!aside_) aside_ = std::make_unique<CaptureStream>(index_);
    } catch (const BackendError&) {
      return nullptr;
    }
    std::unique_ptr<LaunchList> launches = aside_->capture(work);
    if (!launches) return nullptr;
    return std::make_shared<CapturedLaunches>(std::move(launches), index_, compute_.stream());
  }
  std::unique_ptr<GeneratorState> save_generator(const std::optional<at::Generator>& generator) override {
    return std::make_unique<CudaGeneratorState>(
        generator ? *generator : at::cuda::detail::getDefaultCUDAGenerator(index_));
  }

 private:
  static Bytes free_memory() {
    std::size_t free = 0;
    std::size_t total = 0;
    checked(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return static_cast<Bytes>(free);
  }
  // What is enqueued on `then` from now on waits for what is on `first` now.
  static void order(const Stream& first, const Stream& then) {
    if (first == then) return;
    at::cuda::CUDAEvent event;
    event.record(first);
    event.block(then);
  }

  c10::DeviceIndex index_;
  Stream compute_;
  std::unique_ptr<CaptureStream> aside_;  // once something was captured
};

}  // namespace

std::unique_ptr<Platform> make_cuda_platform(int index) {
  allocator();  // before anything is installed: it remembers who was there
  return std::make_unique<CudaPlatform>(index);
}

}  // namespace ebb::torch_adapter
