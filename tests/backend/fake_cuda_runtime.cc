#include "backend/fake_cuda_runtime.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "backend/host/host_backend.h"

struct CUstream_st {
  ebb::Engine engine;
};
struct CUevent_st {
  ebb::Stamp stamp = ebb::Stamp::time;
  ebb::Event event = ebb::kHappened;  // until it is recorded: waiting for it does nothing, as on a real GPU
};

namespace ebb::fake_cuda {
namespace {

struct State {
  std::mutex mutex;  // of counts and slabs
  std::unique_ptr<HostBackend> gpu;
  LinkOptions link;
  Counts counts;
  std::string failing;
  cudaError_t failure = cudaSuccess;
};
State& state() {
  static State the_state;
  return the_state;
}
thread_local cudaError_t last_error = cudaSuccess;

// The error that was asked for, once.
cudaError_t injected(const char* function) {
  if (state().failing != function) return cudaSuccess;
  state().failing.clear();
  return last_error = state().failure;
}

Engine engine_of(cudaStream_t stream) { return stream ? stream->engine : Engine::compute; }

}  // namespace

cudaError_t fail(cudaError_t error) { return last_error = error; }

void set_link(const LinkOptions& link) { state().link = link; }

void fail_next(const char* function, cudaError_t error) {
  state().failing = function;
  state().failure = error;
}

Counts counts() {
  const std::lock_guard lock(state().mutex);
  return state().counts;
}

}  // namespace ebb::fake_cuda

using namespace ebb::fake_cuda;

#define RETURN_IF_INJECTED(function) \
  if (const cudaError_t error = injected(function); error != cudaSuccess) return error

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "some error";
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorSome";
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = 1000;
  *total = 2000;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  RETURN_IF_INJECTED("cudaSetDevice");
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  RETURN_IF_INJECTED("cudaStreamCreateWithFlags");
  if (state().counts.streams == 0)
    state().gpu = std::make_unique<ebb::HostBackend>(ebb::HostOptions{.link = state().link});
  *stream = new CUstream_st{++state().counts.streams == 1 ? ebb::Engine::out : ebb::Engine::in};
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  --state().counts.streams;
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  state().gpu->synchronize(state().gpu->record(engine_of(stream)));
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  ++state().counts.waits;
  state().gpu->wait(engine_of(stream), event->event);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  ++state().counts.events;
  *event = new CUevent_st{.stamp = flags & cudaEventDisableTiming ? ebb::Stamp::none : ebb::Stamp::time};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  --state().counts.events;
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  RETURN_IF_INJECTED("cudaEventRecord");
  event->event = state().gpu->record(engine_of(stream), event->stamp);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  RETURN_IF_INJECTED("cudaEventQuery");
  ++state().counts.queries;
  return state().gpu->happened(event->event) ? cudaSuccess : fail(cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  state().gpu->synchronize(event->event);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds =
      static_cast<float>(static_cast<double>(state().gpu->elapsed(from->event, to->event)) * 1e-6);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  RETURN_IF_INJECTED("cudaMalloc");
  *memory = state().gpu->reserve(static_cast<ebb::Bytes>(bytes));
  ++state().counts.reserved;
  return cudaSuccess;
}
cudaError_t cudaFree(void*) {
  --state().counts.reserved;
  return cudaSuccess;
}
// Off by some bytes, because CUDA promises no alignment of host memory.
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  RETURN_IF_INJECTED("cudaHostAlloc");
  *memory = state().gpu->host_slab(static_cast<ebb::Bytes>(bytes + 256)) + 256;
  const std::lock_guard lock(state().mutex);
  ++state().counts.slabs;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void*) {
  const std::lock_guard lock(state().mutex);
  --state().counts.slabs;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  RETURN_IF_INJECTED("cudaMemcpyAsync");
  if (state().counts.streams == 0) {  // nobody has a backend
    std::memcpy(to, from, bytes);
    return cudaSuccess;
  }
  const ebb::Engine engine = engine_of(stream);
  const cudaMemcpyKind expected = engine == ebb::Engine::out  ? cudaMemcpyDeviceToHost
                                  : engine == ebb::Engine::in ? cudaMemcpyHostToDevice
                                                              : cudaMemcpyDeviceToDevice;
  if (kind != expected) return fail(cudaErrorInvalidMemcpyDirection);
  state().gpu->copy(engine, static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                    static_cast<ebb::Bytes>(bytes));
  return cudaSuccess;
}

}  // extern "C"
