// The arithmetic of K-means, for the host and for CUDA. All sums are taken in a fixed order, so that the same
// points give the same bits every time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace kmeans {

struct Shape {
  int clusters = 0;
  int dimensions = 0;
  // Per cluster: the sum of its points, and how many they are.
  std::size_t sum_floats() const {
    return static_cast<std::size_t>(clusters) * static_cast<std::size_t>(dimensions + 1);
  }
  std::size_t centroid_floats() const {
    return static_cast<std::size_t>(clusters) * static_cast<std::size_t>(dimensions);
  }
};

// Functions enqueue their work in order and may return before it is done. All memory is the device's but
// where it says otherwise.
class Kernels {
 public:
  virtual ~Kernels() = default;
  // Points around `clusters` centres, the same for the same `first` point.
  virtual void fill(const Shape& shape, float* points, std::int64_t first, int count) = 0;
  // Labels every point with its nearest centroid and adds it to that cluster's sum.
  // `scratch` has scratch_floats(shape, count).
  virtual void assign(const Shape& shape, const float* points, int count, const float* centroids, int* labels,
                      float* sums, float* scratch) = 0;
  virtual std::size_t scratch_floats(const Shape& shape, int count) const = 0;
  virtual void clear(float* floats, std::size_t count) = 0;
  // Means of the sums; a cluster without points keeps its centroid.
  virtual void update(const Shape& shape, const float* sums, float* centroids) = 0;

  // Device memory without Ebb, for comparison; null if there is none left.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* memory) = 0;
  // To host memory, when all that was enqueued is done.
  virtual void read(void* host, const void* device, std::size_t bytes) = 0;
  virtual void synchronize() = 0;
};

std::unique_ptr<Kernels> make_host_kernels();
// Throws std::runtime_error if built without CUDA.
std::unique_ptr<Kernels> make_cuda_kernels();

}  // namespace kmeans
