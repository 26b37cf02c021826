// A network's training step, written down layer by layer: each call adds a forward op and remembers its
// backward ops, which `finish` adds in reverse with the fewest dependencies, followed by the update. Sizes
// come from shapes; an op takes as long as its arithmetic or its memory traffic, whichever is slower.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trace/program.h"

namespace ebb {

// What the ops run on: a roofline.
struct Speed {
  double flops_per_second = 0;
  double bytes_per_second = 0;
};

// Of a result; vectors have height = width = 1.
struct Shape {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t elements() const { return batch * channels * height * width; }
  bool operator==(const Shape&) const = default;
};

struct Tensor {
  BlockId block = 0;
  Shape shape;
};

class Network {
 public:
  // Throws InputError if a speed is not positive.
  Network(std::string name, const Speed& speed);

  Tensor input(const Shape& shape);
  // A weight with its gradient and its momentum. Gradients are written once per step and added to after that.
  Tensor parameter(const Shape& shape);

  // `kernel` has the shape (out channels, in channels, height, width).
  Tensor convolution(const Tensor& x, const Tensor& kernel, int stride);
  // `weight` has the shape (in, out).
  Tensor matrix_product(const Tensor& x, const Tensor& weight);
  Tensor batch_norm(const Tensor& x);
  Tensor activation(const std::string& name, const Tensor& x);  // backward reads the result
  Tensor pool(const std::string& name, const Tensor& x, int stride);
  Tensor add(const Tensor& a, const Tensor& b);
  Tensor multiply(const Tensor& a, const Tensor& b);
  std::vector<Tensor> slice(const Tensor& x, int parts);  // along the channels
  void softmax_loss(const Tensor& x);

  Program finish();

 private:
  struct Parameter {
    BlockId weight = 0, gradient = 0, momentum = 0;
    bool has_gradient = false;
  };

  Tensor result(const Shape& shape);
  Bytes bytes_of(BlockId b) const { return blocks_[static_cast<std::size_t>(b)].bytes; }
  void run(const std::string& name, std::vector<Access> accesses, double flops = 0);
  // The gradient of x, or -1 if none has arrived; and one more that arrives. `shared`: others read it too.
  BlockId& gradient(const Tensor& x) { return gradient_[static_cast<std::size_t>(x.block)]; }
  void arrives(const Tensor& x, BlockId gradient, bool shared = false);
  void add_to_weight(const Tensor& weight, const std::string& name, const Tensor& x, BlockId dy,
                     double flops);
  void set_lifetimes();

  std::string name_;
  Speed speed_;
  Phase phase_ = Phase::forward;
  std::vector<Op> ops_;
  std::vector<Block> blocks_;
  std::vector<BlockId> gradient_;     // by block
  std::vector<bool> shared_;          // by block
  std::vector<bool> needs_gradient_;  // by block
  std::vector<Parameter> parameters_;
  std::vector<std::function<void()>> tape_;
};

}  // namespace ebb
