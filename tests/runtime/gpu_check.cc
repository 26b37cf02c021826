// Planned mode on a real GPU: random programs, plans and limits, as tests/runtime/planned_test.cc has them on
// the host, with every byte checked. Built by CMake with EBB_CUDA=ON (target runtime_gpu_check). It needs no
// gtest, but what the core needs: headers of fmt (or FMT_HEADER_ONLY) and nlohmann/json, zlib and zstd.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#include "backend/cuda/checked.h"
#include "backend/cuda/cuda_backend.h"
#include "runtime/planned_cases.h"

namespace ebb::testing {
namespace {

int run(int cases) {
  cudaStream_t stream = nullptr;
  checked(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  const auto copy = [stream](std::byte* to, const std::byte* from, std::size_t bytes) {
    checked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    checked(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  };
  PlannedCase one{
      .backend = [stream](std::uint64_t) { return make_cuda_backend({.compute_stream = stream}); },
      .bytes = {copy, copy}};
  PlannedSum sum;
  int failures = 0;
  for (int i = 1; i <= cases && failures < 5; ++i) {
    one.seed = static_cast<std::uint64_t>(i);
    const std::string wrong = run_planned_case(one, sum);
    if (wrong.empty()) continue;
    std::printf("%s\n", wrong.c_str());
    ++failures;
  }
  sum.print();
  std::printf(failures ? "FAILED\n" : "all cases passed\n");
  return failures ? 1 : 0;
}

}  // namespace
}  // namespace ebb::testing

int main(int argc, char** argv) { return ebb::testing::run(argc > 1 ? std::atoi(argv[1]) : 200); }
