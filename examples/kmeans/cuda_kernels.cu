#include <stdexcept>
#include <string>

#include "arithmetic.h"
#include "kernels.h"

namespace kmeans {
namespace {

constexpr int kThreads = 256;
constexpr int kPointsPerBlock = 1024;

void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
}

int blocks_for(std::int64_t work, int per_block) {
  return static_cast<int>((work + per_block - 1) / per_block);
}

__global__ void fill_points(Shape shape, float* points, std::int64_t first, std::int64_t floats) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= floats) return;
  points[i] =
      coordinate(first + i / shape.dimensions, static_cast<int>(i % shape.dimensions), shape.clusters);
}

__global__ void label_points(Shape shape, const float* points, int count, const float* centroids,
                             int* labels) {
  const int p = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (p >= count) return;
  labels[p] = nearest(points + static_cast<std::ptrdiff_t>(p) * shape.dimensions, centroids, shape.clusters,
                      shape.dimensions);
}

// Each block sums its own points, each thread its own coordinate, in order.
__global__ void sum_points(Shape shape, const float* points, int count, const int* labels, float* partial) {
  extern __shared__ float sums[];
  const int width = shape.dimensions + 1;
  const int size = shape.clusters * width;
  for (int i = static_cast<int>(threadIdx.x); i < size; i += static_cast<int>(blockDim.x)) sums[i] = 0;
  __syncthreads();
  const int begin = static_cast<int>(blockIdx.x) * kPointsPerBlock;
  const int end = min(begin + kPointsPerBlock, count);
  for (int d = static_cast<int>(threadIdx.x); d < width; d += static_cast<int>(blockDim.x))
    for (int p = begin; p < end; ++p)
      sums[labels[p] * width + d] +=
          d < shape.dimensions ? points[static_cast<std::ptrdiff_t>(p) * shape.dimensions + d] : 1.0f;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < size; i += static_cast<int>(blockDim.x))
    partial[static_cast<std::ptrdiff_t>(blockIdx.x) * size + i] = sums[i];
}

__global__ void add_partials(int size, const float* partial, int blocks, float* sums) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= size) return;
  for (int b = 0; b < blocks; ++b) sums[i] += partial[static_cast<std::ptrdiff_t>(b) * size + i];
}

__global__ void take_means(Shape shape, const float* sums, float* centroids) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= shape.clusters * shape.dimensions) return;
  const float* sum = sums + static_cast<std::ptrdiff_t>(i / shape.dimensions) * (shape.dimensions + 1);
  if (sum[shape.dimensions] != 0) centroids[i] = sum[i % shape.dimensions] / sum[shape.dimensions];
}

// Everything runs on the default stream, which is the Device's compute engine.
class CudaKernels final : public Kernels {
 public:
  void fill(const Shape& shape, float* points, std::int64_t first, int count) override {
    const std::int64_t floats = static_cast<std::int64_t>(count) * shape.dimensions;
    fill_points<<<blocks_for(floats, kThreads), kThreads>>>(shape, points, first, floats);
    check(cudaGetLastError(), "fill");
  }

  void assign(const Shape& shape, const float* points, int count, const float* centroids, int* labels,
              float* sums, float* scratch) override {
    const int size = static_cast<int>(shape.sum_floats());
    const int blocks = blocks_for(count, kPointsPerBlock);
    label_points<<<blocks_for(count, kThreads), kThreads>>>(shape, points, count, centroids, labels);
    sum_points<<<blocks, kThreads, static_cast<std::size_t>(size) * sizeof(float)>>>(shape, points, count,
                                                                                     labels, scratch);
    add_partials<<<blocks_for(size, kThreads), kThreads>>>(size, scratch, blocks, sums);
    check(cudaGetLastError(), "assign");
  }
  std::size_t scratch_floats(const Shape& shape, int count) const override {
    return shape.sum_floats() * static_cast<std::size_t>(blocks_for(count, kPointsPerBlock));
  }

  void clear(float* floats, std::size_t count) override {
    check(cudaMemsetAsync(floats, 0, count * sizeof(float)), "cudaMemsetAsync");
  }
  void update(const Shape& shape, const float* sums, float* centroids) override {
    const int floats = static_cast<int>(shape.centroid_floats());
    take_means<<<blocks_for(floats, kThreads), kThreads>>>(shape, sums, centroids);
    check(cudaGetLastError(), "update");
  }

  std::byte* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) == cudaSuccess) return static_cast<std::byte*>(memory);
    cudaGetLastError();  // it must not linger
    return nullptr;
  }
  void release(std::byte* memory) override { check(cudaFree(memory), "cudaFree"); }
  void read(void* host, const void* device, std::size_t bytes) override {
    check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
  void synchronize() override { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }
};

}  // namespace

std::unique_ptr<Kernels> make_cuda_kernels() { return std::make_unique<CudaKernels>(); }

}  // namespace kmeans
