#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/CPUAllocator.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "backend/host/host_backend.h"
#include "torch/platform.h"
#include "torch/torch_version.h"

namespace ebb::torch_adapter {
namespace {

constexpr std::uint8_t kPriority = 200;  // above whatever was installed before

void free_address(void* address);

// Lives for ever: storages keep a pointer to the allocator they came from.
class CpuAllocator final : public c10::Allocator {
 public:
  CpuAllocator() : ordinary_(c10::GetAllocator(c10::DeviceType::CPU)) {}

  c10::DataPtr allocate(std::size_t bytes) EBB_ALLOCATE_CONST override {
    if (MemorySource* source = source_.load(std::memory_order_acquire))
      if (std::optional<c10::DataPtr> memory = source->allocate(bytes)) return std::move(*memory);
    return ordinary_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_address; }
#if EBB_TORCH_AT_LEAST(2, 3)
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
#endif
  void serve_from(MemorySource* source) { source_.store(source, std::memory_order_release); }
  c10::Allocator& ordinary() const { return *ordinary_; }

 private:
  c10::Allocator* ordinary_;
  std::atomic<MemorySource*> source_ = nullptr;
};

CpuAllocator& allocator() {
  static CpuAllocator* instance = new CpuAllocator;
  return *instance;
}

void free_address(void* address) {
  if (address && !free_block_at(address)) allocator().ordinary().raw_deallocate(address);
}

class CpuGeneratorState final : public GeneratorState {
 public:
  explicit CpuGeneratorState(at::Generator generator) : generator_(std::move(generator)) {
    const std::lock_guard lock(generator_.mutex());
    auto* impl = at::check_generator<at::CPUGeneratorImpl>(generator_);
    engine_ = impl->engine();
    normal_float_ = impl->next_float_normal_sample();
    normal_double_ = impl->next_double_normal_sample();
  }
  void restore() const override {
    at::Generator generator = generator_;
    const std::lock_guard lock(generator.mutex());
    auto* impl = at::check_generator<at::CPUGeneratorImpl>(generator);
    impl->set_engine(engine_);
    impl->set_next_float_normal_sample(normal_float_);
    impl->set_next_double_normal_sample(normal_double_);
  }

 private:
  at::Generator generator_;
  at::mt19937 engine_;
  decltype(std::declval<at::CPUGeneratorImpl>().next_float_normal_sample()) normal_float_;
  decltype(std::declval<at::CPUGeneratorImpl>().next_double_normal_sample()) normal_double_;
};

// Nothing is enqueued on a CPU: it is done again, on the same addresses.
class RepeatedWork final : public CapturedWork {
 public:
  explicit RepeatedWork(std::function<void()> work) : work_(std::move(work)) {}
  bool enqueue() override {
    work_();
    return true;
  }

 private:
  std::function<void()> work_;
};

class CpuPlatform final : public Platform {
 public:
  c10::Device device() const override { return c10::Device(c10::DeviceType::CPU); }
  std::unique_ptr<Backend> make_backend() override { return std::make_unique<HostBackend>(); }
  Bytes all_memory() const override {
    // Half: address space that is not used costs nothing, but systems refuse to promise all they have.
    return static_cast<Bytes>(sysconf(_SC_PHYS_PAGES)) * static_cast<Bytes>(sysconf(_SC_PAGE_SIZE)) / 2;
  }
  void serve_from(MemorySource* source) override {
    allocator().serve_from(source);
    c10::SetCPUAllocator(&allocator(), kPriority);
  }
  c10::DataPtr allocate_ordinary(std::size_t bytes) override {
    return allocator().ordinary().allocate(bytes);
  }
  // Never: a numpy array may look at it, and nobody could tell.
  bool may_adopt(const c10::DataPtr&) const override { return false; }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  std::shared_ptr<CapturedWork> capture(std::function<void()> work) override {
    return std::make_shared<RepeatedWork>(std::move(work));
  }
  std::unique_ptr<GeneratorState> save_generator(const std::optional<at::Generator>& generator) override {
    return std::make_unique<CpuGeneratorState>(generator ? *generator : at::detail::getDefaultCPUGenerator());
  }
};

}  // namespace

std::unique_ptr<Platform> make_cpu_platform() { return std::make_unique<CpuPlatform>(); }

}  // namespace ebb::torch_adapter
