// In which order a search tries the items that could lie on a floor. Each restart draws a new order: by one
// of several measures of "place this early", blurred by noise, so that restarts explore different corners.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "layout/sections.h"

namespace ebb::layout {

class ValueOrder {
 public:
  ValueOrder(const Instance& instance, std::uint64_t seed);

  // Draws the next order. rank(i) is then the position of item i in it; the lowest rank is tried first.
  void draw();
  int rank(int item) const { return rank_[item]; }

 private:
  std::vector<std::vector<double>> measures_;  // per measure, per item: the higher, the earlier
  std::vector<double> blurred_;
  std::vector<int> order_, rank_;
  std::size_t drawn_ = 0;
  std::mt19937_64 random_;
};

}  // namespace ebb::layout
