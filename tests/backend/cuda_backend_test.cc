// The CUDA backend on a fake of the CUDA runtime: numbering, reuse and growth of events, waits, errors. What
// only a GPU can show is in gpu_check.cc.
#include "backend/cuda/cuda_backend.h"

#include <gtest/gtest.h>

#include <array>

#include "backend/conformance.h"
#include "backend/events.h"
#include "backend/fake_cuda_runtime.h"

namespace ebb {
namespace {

std::unique_ptr<Backend> make() { return make_cuda_backend(); }

class CudaBackendTest : public testing::Test {
 protected:
  void TearDown() override {
    fake_cuda::set_link({});
    const fake_cuda::Counts left = fake_cuda::counts();
    EXPECT_EQ(left.events, 0);
    EXPECT_EQ(left.slabs, 0);
    EXPECT_EQ(left.streams, 0);
    EXPECT_EQ(left.reserved, 0);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "an error was left for the program to find";
  }
};

TEST_F(CudaBackendTest, PassesTheConformanceSuite) {
  for (const conformance::Check& check : conformance::all_checks())
    EXPECT_EQ(check.run(make), "") << check.name;
}

TEST_F(CudaBackendTest, CudaEventsAreUsedAgain) {
  const auto backend = make();
  for (std::uint64_t i = 0; i < 2 * kElapsedWindow; ++i) backend->record(Engine::compute);
  EXPECT_EQ(fake_cuda::counts().events, static_cast<int>(kElapsedWindow));
}

TEST_F(CudaBackendTest, EventsOfAllEnginesAreUsedAgainWithFewQueries) {
  const auto backend = make();
  std::array<Event, kEngines> last = {};
  for (std::uint64_t i = 0; i < kElapsedWindow; ++i) {
    const auto engine = i % 7 == 0 ? Engine::out : i % 5 == 0 ? Engine::in : Engine::compute;
    last[index_of(engine)] = backend->record(engine);
  }
  // All have happened, and the backend was not told.
  backend->wait(Engine::compute, last[index_of(Engine::out)]);
  backend->wait(Engine::compute, last[index_of(Engine::in)]);
  const int before = fake_cuda::counts().queries;
  for (std::uint64_t i = 0; i < kElapsedWindow / 2; ++i) backend->record(Engine::compute);
  EXPECT_LE(fake_cuda::counts().queries - before, 3 * 5);
  EXPECT_EQ(fake_cuda::counts().events, static_cast<int>(kElapsedWindow));
}

TEST_F(CudaBackendTest, AnEventThatIsStillPendingIsNotUsedAgain) {
  fake_cuda::set_link({.latency_out = 300'000'000});
  const auto backend = make();
  std::byte* device = backend->reserve(64);
  std::byte* host = backend->host_slab(64);
  backend->copy(Engine::out, host, device, 64);
  const Event pending = backend->record(Engine::out);
  for (std::uint64_t i = 0; i < kElapsedWindow - 1; ++i) backend->record(Engine::compute);
  if (backend->happened(pending)) GTEST_SKIP() << "the machine was too slow to have it pending";
  backend->record(Engine::compute);
  backend->copy(Engine::in, device, host, 64);
  backend->wait(Engine::in, pending);
  const Event after = backend->record(Engine::in);
  for (std::uint64_t i = 0; i < kElapsedWindow; ++i) backend->record(Engine::compute);
  backend->synchronize(after);
  EXPECT_TRUE(backend->happened(pending));
  EXPECT_GT(fake_cuda::counts().events, static_cast<int>(kElapsedWindow));
}

TEST_F(CudaBackendTest, WaitsThatAreImpliedCostNoCall) {
  fake_cuda::set_link({.latency_out = 100'000'000});
  const auto backend = make();
  std::byte* device = backend->reserve(64);
  backend->copy(Engine::out, backend->host_slab(64), device, 64);
  const Event first = backend->record(Engine::out);
  const Event second = backend->record(Engine::out);
  const int before = fake_cuda::counts().waits;
  backend->wait(Engine::in, second);
  EXPECT_EQ(fake_cuda::counts().waits, before + 1);
  backend->wait(Engine::in, second);
  backend->wait(Engine::in, first);
  backend->wait(Engine::out, second);
  backend->wait(Engine::in, kHappened);
  EXPECT_EQ(fake_cuda::counts().waits, before + 1);
  backend->synchronize(second);
  const int queries = fake_cuda::counts().queries;
  EXPECT_TRUE(backend->happened(first));
  EXPECT_EQ(fake_cuda::counts().queries, queries);
}

TEST_F(CudaBackendTest, AnEventNotReadyIsNotLeftAsTheLastError) {
  fake_cuda::set_link({.latency_out = 100'000'000});
  const auto backend = make();
  std::byte* device = backend->reserve(64);
  backend->copy(Engine::out, backend->host_slab(64), device, 64);
  backend->happened(backend->record(Engine::out));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

std::string error_of(const char* function, cudaError_t error, const std::function<void()>& call) {
  fake_cuda::fail_next(function, error);
  try {
    call();
  } catch (const BackendError& found) {
    return found.what();
  }
  return "";
}

TEST_F(CudaBackendTest, ErrorsNameCallErrorAndSizes) {
  const auto backend = make();
  EXPECT_EQ(
      error_of("cudaMalloc", cudaErrorMemoryAllocation, [&] { backend->reserve(5000); }),
      "cudaMalloc of 5000 bytes: out of memory (cudaErrorMemoryAllocation); 1000 of 2000 bytes of device "
      "memory are free");
  std::byte* device = backend->reserve(64);
  EXPECT_EQ(error_of("cudaHostAlloc", cudaErrorUnknown, [&] { backend->host_slab(64); }),
            "cudaHostAlloc of 64 bytes: some error (cudaErrorSome)");
  std::byte* host = backend->host_slab(64);
  EXPECT_EQ(
      error_of("cudaMemcpyAsync", cudaErrorUnknown, [&] { backend->copy(Engine::in, device, host, 64); }),
      "cudaMemcpyAsync of 64 bytes: some error (cudaErrorSome)");
  EXPECT_EQ(error_of("cudaEventRecord", cudaErrorUnknown, [&] { backend->record(Engine::in); }),
            "cudaEventRecord: some error (cudaErrorSome)");
  backend->copy(Engine::in, device, host, 64);
  const Event event = backend->record(Engine::in);
  EXPECT_EQ(error_of("cudaEventQuery", cudaErrorUnknown, [&] { backend->happened(event); }),
            "cudaEventQuery: some error (cudaErrorSome)");
  backend->synchronize(event);
}

TEST_F(CudaBackendTest, AGpuThatIsNotThereIsAnError) {
  EXPECT_EQ(error_of("cudaSetDevice", cudaErrorNoDevice, [] { make(); }),
            "cudaSetDevice: some error (cudaErrorSome)");
}

}  // namespace
}  // namespace ebb
