// What the host and CUDA kernels share: one point at a time.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define KMEANS_EVERYWHERE __host__ __device__
#else
#define KMEANS_EVERYWHERE
#endif

namespace kmeans {

// A number in [0, 1) that depends on `key` alone.
KMEANS_EVERYWHERE inline float uniform(std::uint64_t key) {
  key += 0x9E3779B97F4A7C15u;
  key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9u;
  key = (key ^ (key >> 27)) * 0x94D049BB133111EBu;
  return static_cast<float>((key ^ (key >> 31)) >> 40) * 0x1p-24f;
}

// Coordinate d of a point: its cluster's centre, and some noise.
KMEANS_EVERYWHERE inline float coordinate(std::int64_t point, int d, int clusters) {
  const auto p = static_cast<std::uint64_t>(point);
  const auto key = static_cast<std::uint64_t>(d);
  const auto cluster = static_cast<std::uint64_t>(uniform(p * 3 + 1) * static_cast<float>(clusters));
  return 8 * uniform(cluster << 32 | key) + uniform((p << 16 ^ key) * 3 + 2);
}

KMEANS_EVERYWHERE inline int nearest(const float* point, const float* centroids, int clusters,
                                     int dimensions) {
  int best = 0;
  float best_distance = 0;
  for (int c = 0; c < clusters; ++c) {
    float distance = 0;
    for (int d = 0; d < dimensions; ++d) {
      const float difference = point[d] - centroids[c * dimensions + d];
      distance += difference * difference;
    }
    if (c > 0 && !(distance < best_distance)) continue;
    best = c;
    best_distance = distance;
  }
  return best;
}

}  // namespace kmeans
