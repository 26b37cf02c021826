#include <algorithm>

#include "backend/cuda/checked.h"
#include "backend/cuda/cuda_backend.h"
#include "spin.h"
#include "workbench.h"

namespace ebb {
namespace {

constexpr Bytes kCopy = 64 * kMiB;
constexpr int kCopies = 30;

class CudaWorkbench final : public Workbench {
 public:
  CudaWorkbench() { checked(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~CudaWorkbench() override { cudaStreamDestroy(stream_); }
  const char* name() const override { return "cuda backend"; }
  std::unique_ptr<Backend> backend() override { return make_cuda_backend({.compute_stream = stream_}); }
  void work(Nanoseconds duration) override { launch_spin(duration, stream_); }
  bool is_large() const override { return true; }

  Machine machine() override {
    const std::unique_ptr<Backend> backend = this->backend();
    std::byte* device = backend->reserve(4 * kCopy);
    std::byte* host = backend->host_slab(4 * kCopy);
    const auto enqueue = [&](Engine engine, int i) {
      const Bytes at = (engine == Engine::out ? i % 2 : 2 + i % 2) * kCopy;
      if (engine == Engine::out)
        backend->copy(engine, host + at, device + at, kCopy);
      else
        backend->copy(engine, device + at, host + at, kCopy);
    };
    const auto rate = [&](std::initializer_list<Engine> engines) {
      Event begin[kEngines] = {}, end[kEngines] = {};
      for (const Engine engine : engines)
        begin[static_cast<int>(engine)] = backend->record(engine, Stamp::time);
      for (int i = 0; i < kCopies; ++i)
        for (const Engine engine : engines) enqueue(engine, i);
      for (const Engine engine : engines)
        end[static_cast<int>(engine)] = backend->record(engine, Stamp::time);
      double sum = 0;
      for (const Engine engine : engines) {
        const auto e = static_cast<int>(engine);
        backend->synchronize(end[e]);
        sum += static_cast<double>(kCopies * kCopy) * 1e9 /
               static_cast<double>(backend->elapsed(begin[e], end[e]));
      }
      return static_cast<Bytes>(sum);
    };
    rate({Engine::out, Engine::in});  // warm
    Machine machine{.name = "measured", .source = "this run"};
    machine.bandwidth_out = rate({Engine::out});
    machine.bandwidth_in = rate({Engine::in});
    machine.bandwidth_both = rate({Engine::out, Engine::in});
    machine.latency_out = machine.latency_in = 3'000;
    return machine;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Workbench> make_workbench() { return std::make_unique<CudaWorkbench>(); }

}  // namespace ebb
