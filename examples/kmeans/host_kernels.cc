#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "arithmetic.h"
#include "kernels.h"

namespace kmeans {
namespace {

class HostKernels final : public Kernels {
 public:
  void fill(const Shape& shape, float* points, std::int64_t first, int count) override {
    for (int p = 0; p < count; ++p)
      for (int d = 0; d < shape.dimensions; ++d)
        points[static_cast<std::ptrdiff_t>(p) * shape.dimensions + d] =
            coordinate(first + p, d, shape.clusters);
  }

  void assign(const Shape& shape, const float* points, int count, const float* centroids, int* labels,
              float* sums, float*) override {
    for (int p = 0; p < count; ++p) {
      const float* point = points + static_cast<std::ptrdiff_t>(p) * shape.dimensions;
      labels[p] = nearest(point, centroids, shape.clusters, shape.dimensions);
      float* sum = sums + static_cast<std::ptrdiff_t>(labels[p]) * (shape.dimensions + 1);
      for (int d = 0; d < shape.dimensions; ++d) sum[d] += point[d];
      sum[shape.dimensions] += 1;
    }
  }
  std::size_t scratch_floats(const Shape&, int) const override { return 0; }

  void clear(float* floats, std::size_t count) override { std::fill_n(floats, count, 0.0f); }

  void update(const Shape& shape, const float* sums, float* centroids) override {
    for (int c = 0; c < shape.clusters; ++c) {
      const float* sum = sums + static_cast<std::ptrdiff_t>(c) * (shape.dimensions + 1);
      if (sum[shape.dimensions] == 0) continue;
      for (int d = 0; d < shape.dimensions; ++d)
        centroids[c * shape.dimensions + d] = sum[d] / sum[shape.dimensions];
    }
  }

  std::byte* allocate(std::size_t bytes) override { return static_cast<std::byte*>(std::malloc(bytes)); }
  void release(std::byte* memory) override { std::free(memory); }
  void read(void* host, const void* device, std::size_t bytes) override { std::memcpy(host, device, bytes); }
  void synchronize() override {}
};

}  // namespace

std::unique_ptr<Kernels> make_host_kernels() { return std::make_unique<HostKernels>(); }

}  // namespace kmeans
