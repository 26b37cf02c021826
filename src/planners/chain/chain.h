// A training step as [OFF] section 3 sees it: a chain of layers run forward and then backward.
//
//   x_0 → F_0 → x_1 → F_1 → … → F_L → x_{L+1}
//   y_0 ← B_0 ← y_1 ← B_1 ← … ← B_L ← y_{L+1}
//
// F_i reads x_i and makes x_{i+1}; B_i reads x_i, x_{i+1} and y_{i+1} and makes y_i. Each x_i is kept from
// F_{i-1} to B_i, or leaves once F_{i-1} has made it and is back before B_i. Bytes that are there all the
// time are not part of the chain. See docs/notes/chain.md.
#pragma once

#include <vector>

#include "trace/quantities.h"

namespace ebb {

struct ChainLayer {
  Nanoseconds forward = 0;   // u_F
  Nanoseconds backward = 0;  // u_B
  Bytes input = 0;           // |x_i|: what backward wants of all that the layer before made
  Bytes gradient = 0;        // |y_i|
  // What running the layer takes beyond x_0 … x_{i+1} (and y_i, y_{i+1}); negative if those are never all
  // there at once.
  Bytes forward_extra = 0;
  Bytes backward_extra = 0;
  bool operator==(const ChainLayer&) const = default;
};

struct Chain {
  std::vector<ChainLayer> layers = {};
  Bytes output = 0;           // |x_{L+1}|
  Bytes output_gradient = 0;  // |y_{L+1}|
  Bytes bandwidth = 1;        // β, bytes per second, of a link that carries one transfer at a time

  std::size_t size() const { return layers.size(); }
  // 0 <= i <= size()
  Bytes x(std::size_t i) const { return i < layers.size() ? layers[i].input : output; }
  Bytes y(std::size_t i) const { return i < layers.size() ? layers[i].gradient : output_gradient; }
  // What F_i and B_i take beyond x_0 … x_i.
  Bytes forward_need(std::size_t i) const { return x(i + 1) + layers[i].forward_extra; }
  Bytes backward_need(std::size_t i) const { return x(i + 1) + y(i) + y(i + 1) + layers[i].backward_extra; }

  Nanoseconds compute_time() const;
  Nanoseconds transfer_time(Bytes bytes) const;  // rounded up
  Bytes peak() const;                            // M_peak: nothing leaves
  Bytes smallest_memory() const;                 // everything has left that can
  // [OFF] Prop. 3: all layers run, and what does not fit crosses the link twice.
  Nanoseconds lower_bound(Bytes memory) const;
};

// Which of x_0 … x_L leave.
using OffloadSet = std::vector<bool>;

}  // namespace ebb
