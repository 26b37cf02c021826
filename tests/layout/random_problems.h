// Random packing problems and a packer that tries everything, for tests of the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "layout/problem.h"

namespace ebb::layout {

struct RandomShape {
  int buffers = 10;
  Time horizon = 20;
  Bytes largest = 16;
  bool cyclic = false;
};

inline Problem random_problem(std::mt19937_64& random, const RandomShape& shape) {
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  Problem problem;
  if (shape.cyclic) problem.period = shape.horizon;
  for (int i = 0; i < shape.buffers; ++i) {
    Buffer buffer{.id = i, .begin = draw(0, shape.horizon - 1)};
    buffer.end = shape.cyclic ? buffer.begin + draw(1, shape.horizon) : draw(buffer.begin + 1, shape.horizon);
    buffer.size = draw(1, shape.largest);
    problem.buffers.push_back(buffer);
  }
  return problem;
}

// Multiplies the number of random instances: EBB_SOAK=1 makes a long run of the normal one.
inline int soak(int instances) { return std::getenv("EBB_SOAK") != nullptr ? instances * 25 : instances; }

// The lowest offset at which buffer i meets none of those placed (offset >= 0).
inline Bytes lowest_offset(const Problem& problem, const std::vector<Bytes>& offsets, std::size_t i) {
  Bytes offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      if (offsets[k] < 0 || !overlap_in_time(problem.buffers[i], problem.buffers[k], problem.period))
        continue;
      if (offsets[k] >= offset + problem.buffers[i].size || offset >= offsets[k] + problem.buffers[k].size)
        continue;
      offset = offsets[k] + problem.buffers[k].size;
      moved = true;
    }
  }
  return offset;
}

// The smallest footprint, alignment 1, by trying all orders. REQUIRES: at most 8 buffers.
inline Bytes exhaustive_footprint(const Problem& problem) {
  std::vector<std::size_t> order;
  std::vector<Bytes> fixed(problem.buffers.size(), -1);
  Bytes floor = 0;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].fixed) {
      fixed[i] = *problem.buffers[i].fixed;
      floor = std::max(floor, fixed[i] + problem.buffers[i].size);
    } else {
      order.push_back(i);
    }
  }
  Bytes best = std::numeric_limits<Bytes>::max();
  do {
    std::vector<Bytes> offsets = fixed;
    Bytes height = floor;
    for (const std::size_t i : order) {
      offsets[i] = lowest_offset(problem, offsets, i);
      height = std::max(height, offsets[i] + problem.buffers[i].size);
    }
    best = std::min(best, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace ebb::layout
