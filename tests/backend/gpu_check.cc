// The CUDA backend on a real GPU: the conformance suite, captured work, then what copies cost. Needs no
// CMake, fmt or gtest; from the root of the repository, in one line:
//
//   g++ -std=c++20 -O2 -Isrc -Itests -I/usr/local/cuda/include
//     tests/backend/{gpu_check,conformance,random_copies}.cc src/backend/{events,reservation}.cc
//     src/backend/cuda/{checked,cuda_backend,event_ring,launch_list}.cc
//     -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib64/stubs -Wl,-rpath,/usr/local/cuda/lib64 -lcudart -lcuda
//     -lpthread -o gpu_check
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/conformance.h"
#include "backend/cuda/checked.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/launch_list.h"

namespace ebb {
namespace {

Nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

int run_conformance(const char* title, void* compute_stream) {
  std::printf("conformance, %s\n", title);
  const conformance::MakeBackend make = [&] { return make_cuda_backend({.compute_stream = compute_stream}); };
  int failures = 0;
  const auto report = [&](const char* name, const std::string& error) {
    std::printf("  %-62s %s\n", name, error.empty() ? "ok" : error.c_str());
    failures += !error.empty();
  };
  for (const conformance::Check& check : conformance::all_checks()) try {
      report(check.name, check.run(make));
    } catch (const std::exception& error) {
      report(check.name, std::string("threw: ") + error.what());
    }
  std::string random;
  for (std::uint64_t seed = 100; seed < 200 && random.empty(); ++seed)
    random = conformance::random_copies_match_a_serial_run(make, seed, 300);
  report("random copies, 100 more seeds", random);
  return failures;
}

// Adds one to each of so many numbers.
constexpr const char* kAddOne = R"(
.version 6.5
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 numbers, .param .u32 count) {
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [numbers];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  cvta.to.global.u64 %d2, %d1;
  mul.wide.u32 %d3, %r5, 4;
  add.u64 %d2, %d2, %d3;
  ld.global.u32 %r2, [%d2];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%d2], %r2;
done:
  ret;
})";

void checked_driver(CUresult error, const char* call) {
  if (error != CUDA_SUCCESS) throw BackendError(std::string(call) + ": " + std::to_string(error));
}

// Numbers that are set to 0, and one added; a copy of them, and one added to that.
class CapturedWork {
 public:
  explicit CapturedWork(cudaStream_t stream) : stream_(stream) {
    for (CUdeviceptr* numbers : {&first_, &second_})
      checked(cudaMalloc(reinterpret_cast<void**>(numbers), kSize), "cudaMalloc");
    checked_driver(cuModuleLoadData(&module_, kAddOne), "cuModuleLoadData");
    checked_driver(cuModuleGetFunction(&add_one_, module_, "add_one"), "cuModuleGetFunction");
    checked(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    checked(cudaMemsetAsync(at(first_), 0, kSize, stream), "cudaMemsetAsync");
    add_one(first_);
    checked(cudaMemcpyAsync(at(second_), at(first_), kSize, cudaMemcpyDeviceToDevice, stream),
            "cudaMemcpyAsync");
    add_one(second_);
    cudaGraph_t graph = nullptr;
    checked(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    launches_ = LaunchList::of(graph);
  }
  ~CapturedWork() {
    launches_.reset();
    cuModuleUnload(module_);
    for (const CUdeviceptr numbers : {first_, second_}) cudaFree(at(numbers));
  }
  CapturedWork(const CapturedWork&) = delete;
  CapturedWork& operator=(const CapturedWork&) = delete;

  // What is wrong, if anything.
  std::string launched_onto(cudaStream_t stream) {
    if (!launches_) return "it was not taken for a list of launches";
    for (const CUdeviceptr numbers : {first_, second_})
      checked(cudaMemset(at(numbers), 255, kSize), "cudaMemset");
    checked(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (!launches_->launch(stream)) return "the device did not take it";
    checked(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if (!are_all(first_, 1)) return "the first numbers are not 1";
    return are_all(second_, 2) ? "" : "their copies are not 2";
  }

 private:
  static constexpr unsigned kCount = 1'000;
  static constexpr unsigned kBlock = 128;
  static constexpr std::size_t kSize = kCount * sizeof(unsigned);
  static void* at(CUdeviceptr numbers) { return reinterpret_cast<void*>(numbers); }

  void add_one(CUdeviceptr numbers) {
    unsigned count = kCount;
    void* arguments[] = {&numbers, &count};
    checked_driver(cuLaunchKernel(add_one_, (kCount + kBlock - 1) / kBlock, 1, 1, kBlock, 1, 1, 0, stream_,
                                  arguments, nullptr),
                   "cuLaunchKernel");
  }
  static bool are_all(CUdeviceptr numbers, unsigned value) {
    std::vector<unsigned> host(kCount);
    checked(cudaMemcpy(host.data(), at(numbers), kSize, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return host == std::vector<unsigned>(kCount, value);
  }

  cudaStream_t stream_;
  CUdeviceptr first_ = 0, second_ = 0;
  CUmodule module_ = nullptr;
  CUfunction add_one_ = nullptr;
  std::unique_ptr<LaunchList> launches_;
};

int check_captured_work(cudaStream_t stream) {
  std::printf("captured work, launched again\n");
  CapturedWork work(stream);
  int failures = 0;
  for (const auto& [where, onto] : {std::pair{"on the stream it was captured from", stream},
                                    std::pair{"on the default stream", cudaStream_t{nullptr}}}) {
    const std::string error = work.launched_onto(onto);
    std::printf("  %-62s %s\n", where, error.empty() ? "ok" : error.c_str());
    failures += !error.empty();
  }
  return failures;
}

constexpr Bytes kCopy = 64 * kMiB;
constexpr int kCopies = 40;

class Measurement {
 public:
  Measurement() : backend_(make_cuda_backend()), device_(backend_->reserve(8 * kCopy)) {
    const Nanoseconds begin = now();
    host_ = backend_->host_slab(8 * kCopy);
    pinning_ = now() - begin;
  }

  void print() {
    std::printf("copies of %lld MiB, pinned\n", static_cast<long long>(kCopy / kMiB));
    one_way(Engine::out);  // warm
    std::printf("  out alone                %8.2f GB/s\n", one_way(Engine::out));
    std::printf("  in alone                 %8.2f GB/s\n", one_way(Engine::in));
    both_ways();
    std::printf("small copies (4 KiB), event to event, median of 500\n");
    std::printf("  out                      %8.2f us\n", small_copy(Engine::out));
    std::printf("  in                       %8.2f us\n", small_copy(Engine::in));
    std::printf("  nothing (event pair)     %8.2f us\n", event_pair());
    host_costs();
    std::printf(
        "pinning                    %8.2f s per GiB\n",
        static_cast<double>(pinning_) * 1e-9 * static_cast<double>(kGiB) / static_cast<double>(8 * kCopy));
  }

 private:
  void enqueue(Engine engine, int i, Bytes bytes) {
    // Out and in work in different halves of both memories, so that they need not wait for each other.
    const Bytes at = (engine == Engine::out ? i % 4 : 4 + i % 4) * kCopy;
    if (engine == Engine::out)
      backend_->copy(engine, host_ + at, device_ + at, bytes);
    else
      backend_->copy(engine, device_ + at, host_ + at, bytes);
  }

  double one_way(Engine engine) {
    const Event begin = backend_->record(engine, Stamp::time);
    for (int i = 0; i < kCopies; ++i) enqueue(engine, i, kCopy);
    const Event end = backend_->record(engine, Stamp::time);
    backend_->synchronize(end);
    return static_cast<double>(kCopy) * kCopies / static_cast<double>(backend_->elapsed(begin, end));
  }

  // Each starts at the same event, and is timed until the first of them ends.
  void both_ways() {
    const Event begin = backend_->record(Engine::out, Stamp::time);
    backend_->wait(Engine::in, begin);
    std::vector<Event> out;
    std::vector<Event> in;
    for (int i = 0; i < kCopies; ++i) {
      enqueue(Engine::out, i, kCopy);
      out.push_back(backend_->record(Engine::out, Stamp::time));
      enqueue(Engine::in, i, kCopy);
      in.push_back(backend_->record(Engine::in, Stamp::time));
    }
    backend_->synchronize(out.back());
    backend_->synchronize(in.back());
    const Nanoseconds end =
        std::min(backend_->elapsed(begin, out.back()), backend_->elapsed(begin, in.back()));
    const auto rate = [&](const std::vector<Event>& events) {
      int done = 0;
      Nanoseconds last = 1;
      for (const Event event : events)
        if (const Nanoseconds time = backend_->elapsed(begin, event); time <= end) {
          ++done;
          last = time;
        }
      return static_cast<double>(kCopy) * done / static_cast<double>(last);
    };
    std::printf("  out beside in            %8.2f GB/s\n", rate(out));
    std::printf("  in beside out            %8.2f GB/s\n", rate(in));
    std::printf("  both together            %8.2f GB/s\n", rate(out) + rate(in));
  }

  template <class Between>
  double median_us(Engine engine, Between between) {
    std::vector<Nanoseconds> times;
    for (int i = 0; i < 500; ++i) {
      const Event begin = backend_->record(engine, Stamp::time);
      between(i);
      const Event end = backend_->record(engine, Stamp::time);
      backend_->synchronize(end);
      times.push_back(backend_->elapsed(begin, end));
    }
    std::nth_element(times.begin(), times.begin() + 250, times.end());
    return static_cast<double>(times[250]) * 1e-3;
  }
  double small_copy(Engine engine) {
    return median_us(engine, [&](int i) { enqueue(engine, i, 4096); });
  }
  double event_pair() {
    return median_us(Engine::out, [](int) {});
  }

  template <class Call>
  void host_cost(const char* name, Call call) {
    constexpr int kCalls = 500;  // few enough not to fill the driver's queue
    for (int i = 0; i < kCalls; ++i) call(i);
    drain();
    const Nanoseconds begin = now();
    for (int i = 0; i < kCalls; ++i) call(i);
    const Nanoseconds time = now() - begin;
    drain();
    std::printf("  %-24s %8.2f us\n", name, static_cast<double>(time) * 1e-3 / kCalls);
  }
  void drain() {
    for (const Engine engine : {Engine::compute, Engine::out, Engine::in})
      backend_->synchronize(backend_->record(engine, Stamp::time));
  }

  void host_costs() {
    std::printf("host time per call, driver included, engines idle or busy with small copies\n");
    host_cost("copy, 4 KiB", [&](int i) { enqueue(Engine::in, i, 4096); });
    host_cost("record", [&](int) { backend_->record(Engine::in, Stamp::time); });
    host_cost("record and wait",
              [&](int) { backend_->wait(Engine::out, backend_->record(Engine::in, Stamp::time)); });
    host_cost("record and happened",
              [&](int) { backend_->happened(backend_->record(Engine::in, Stamp::time)); });
    const Nanoseconds begin = now();
    for (int i = 0; i < kCopies; ++i) enqueue(Engine::out, i, kCopy);
    const Event end = backend_->record(Engine::out, Stamp::time);
    const Nanoseconds enqueued = now() - begin;
    const bool still_busy = !backend_->happened(end);
    backend_->synchronize(end);
    std::printf("  %d copies of 64 MiB: enqueued in %.2f us, done after %.2f us; the host %s\n", kCopies,
                static_cast<double>(enqueued) * 1e-3, static_cast<double>(now() - begin) * 1e-3,
                still_busy ? "was not blocked" : "WAS BLOCKED");
  }

  std::unique_ptr<Backend> backend_;
  std::byte* device_;
  std::byte* host_ = nullptr;
  Nanoseconds pinning_ = 0;
};

int check_gpu() {
  cudaDeviceProp properties = {};
  checked(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::printf("%s\n", properties.name);
  cudaStream_t stream = nullptr;
  checked(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  const int failures = run_conformance("compute on the default stream", nullptr) +
                       run_conformance("compute on a stream of its own", stream) +
                       check_captured_work(stream);
  checked(cudaStreamDestroy(stream), "cudaStreamDestroy");
  Measurement().print();
  std::printf(failures == 0 ? "all checks passed\n" : "%d checks FAILED\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ebb

int main() {
  try {
    return ebb::check_gpu();
  } catch (const std::exception& error) {
    std::printf("gpu_check: %s\n", error.what());
    return 1;
  }
}
