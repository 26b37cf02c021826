#include "trace/network.h"

#include <algorithm>
#include <cmath>

#include "trace/error.h"

namespace ebb {
namespace {

constexpr Bytes kElement = 4;  // bytes of a float

Access reads(BlockId b) { return {.block = b, .reads = true}; }
Access writes(BlockId b) { return {.block = b, .writes = true}; }
Access updates(BlockId b) { return {.block = b, .reads = true, .writes = true}; }

}  // namespace

Network::Network(std::string name, const Speed& speed) : name_(std::move(name)), speed_(speed) {
  if (!(speed.flops_per_second > 0) || !(speed.bytes_per_second > 0))
    throw InputError("the arithmetic rate and the memory bandwidth of the machine have to be known");
}

Tensor Network::result(const Shape& shape) {
  const Tensor tensor{static_cast<BlockId>(blocks_.size()), shape};
  blocks_.push_back({.bytes = shape.elements() * kElement});
  gradient_.push_back(-1);
  shared_.push_back(false);
  needs_gradient_.push_back(true);
  return tensor;
}

Tensor Network::input(const Shape& shape) {
  const Tensor tensor = result(shape);
  blocks_.back().lifetime = Lifetime::persistent;
  needs_gradient_.back() = false;
  return tensor;
}

Tensor Network::parameter(const Shape& shape) {
  const Tensor weight = input(shape);
  const BlockId gradient = input(shape).block;
  parameters_.push_back({weight.block, gradient, input(shape).block});
  return weight;
}

void Network::run(const std::string& name, std::vector<Access> accesses, double flops) {
  double bytes = 0;
  for (const Access& access : accesses)
    bytes += static_cast<double>(bytes_of(access.block)) * (access.reads && access.writes ? 2 : 1);
  const double seconds = std::max(flops / speed_.flops_per_second, bytes / speed_.bytes_per_second);
  ops_.push_back({.name = name,
                  .phase = phase_,
                  .duration = std::max<Nanoseconds>(1, std::llround(seconds * 1e9)),
                  .accesses = std::move(accesses)});
}

void Network::arrives(const Tensor& x, BlockId contribution, bool shared) {
  if (shared) shared_[static_cast<std::size_t>(contribution)] = true;
  BlockId before = gradient(x);
  auto alone = [&](BlockId b) { return !shared_[static_cast<std::size_t>(b)]; };
  if (before >= 0 && alone(before)) std::swap(before, contribution);
  if (before >= 0 && alone(contribution)) {
    run("add_", {updates(contribution), reads(before)});
  } else if (before >= 0) {
    const BlockId both = result(x.shape).block;
    run("add", {reads(before), reads(contribution), writes(both)});
    contribution = both;
  }
  gradient(x) = contribution;
}

void Network::add_to_weight(const Tensor& weight, const std::string& name, const Tensor& x, BlockId dy,
                            double flops) {
  const auto parameter = std::find_if(parameters_.begin(), parameters_.end(),
                                      [&](const Parameter& p) { return p.weight == weight.block; });
  const BlockId gradient = parameter->gradient;
  run(name, {reads(x.block), reads(dy), parameter->has_gradient ? updates(gradient) : writes(gradient)},
      flops);
  parameter->has_gradient = true;
}

Tensor Network::convolution(const Tensor& x, const Tensor& kernel, int stride) {
  const Shape& k = kernel.shape;
  const Tensor y = result({x.shape.batch, k.batch, x.shape.height / stride, x.shape.width / stride});
  const double flops =
      2.0 * static_cast<double>(y.shape.elements()) * static_cast<double>(k.channels * k.height * k.width);
  run("convolution", {reads(x.block), reads(kernel.block), writes(y.block)}, flops);
  tape_.emplace_back([=, this] {
    const BlockId dy = gradient(y);
    if (needs_gradient_[static_cast<std::size_t>(x.block)]) {
      const BlockId dx = result(x.shape).block;
      run("convolution_backward_input", {reads(dy), reads(kernel.block), writes(dx)}, flops);
      arrives(x, dx);
    }
    add_to_weight(kernel, "convolution_backward_weight", x, dy, flops);
  });
  return y;
}

Tensor Network::matrix_product(const Tensor& x, const Tensor& weight) {
  const Tensor y = result({x.shape.batch, weight.shape.channels, 1, 1});
  const double flops =
      2.0 * static_cast<double>(y.shape.elements()) * static_cast<double>(weight.shape.batch);
  run("mm", {reads(x.block), reads(weight.block), writes(y.block)}, flops);
  tape_.emplace_back([=, this] {
    const BlockId dy = gradient(y);
    if (needs_gradient_[static_cast<std::size_t>(x.block)]) {
      const BlockId dx = result(x.shape).block;
      run("mm_backward_input", {reads(dy), reads(weight.block), writes(dx)}, flops);
      arrives(x, dx);
    }
    add_to_weight(weight, "mm_backward_weight", x, dy, flops);
  });
  return y;
}

Tensor Network::batch_norm(const Tensor& x) {
  const Tensor y = result(x.shape);
  const Tensor statistics = result({1, 2 * x.shape.channels, 1, 1});
  run("batch_norm", {reads(x.block), writes(y.block), writes(statistics.block)});
  tape_.emplace_back([=, this] {
    const BlockId dx = result(x.shape).block;
    run("batch_norm_backward", {reads(x.block), reads(statistics.block), reads(gradient(y)), writes(dx)});
    arrives(x, dx);
  });
  return y;
}

Tensor Network::activation(const std::string& name, const Tensor& x) {
  const Tensor y = result(x.shape);
  run(name, {reads(x.block), writes(y.block)});
  tape_.emplace_back([=, this] {
    const BlockId dx = result(x.shape).block;
    run(name + "_backward", {reads(y.block), reads(gradient(y)), writes(dx)});
    arrives(x, dx);
  });
  return y;
}

Tensor Network::pool(const std::string& name, const Tensor& x, int stride) {
  const Tensor y = result({x.shape.batch, x.shape.channels, x.shape.height / stride, x.shape.width / stride});
  run(name, {reads(x.block), writes(y.block)});
  tape_.emplace_back([=, this] {
    const BlockId dx = result(x.shape).block;
    const bool average = name.find("avg") != std::string::npos;
    std::vector<Access> accesses = {reads(gradient(y)), writes(dx)};
    if (!average) accesses.insert(accesses.end(), {reads(x.block), reads(y.block)});
    run(name + "_backward", std::move(accesses));
    arrives(x, dx);
  });
  return y;
}

Tensor Network::add(const Tensor& a, const Tensor& b) {
  const Tensor y = result(a.shape);
  run("add", {reads(a.block), reads(b.block), writes(y.block)});
  tape_.emplace_back([=, this] {
    const BlockId dy = gradient(y);
    arrives(a, dy, true);
    arrives(b, dy, true);
  });
  return y;
}

Tensor Network::multiply(const Tensor& a, const Tensor& b) {
  const Tensor y = result(a.shape);
  run("mul", {reads(a.block), reads(b.block), writes(y.block)});
  tape_.emplace_back([=, this] {
    const BlockId dy = gradient(y);
    for (const auto& [factor, other] : {std::pair{a, b}, std::pair{b, a}}) {
      if (!needs_gradient_[static_cast<std::size_t>(factor.block)]) continue;
      const BlockId dx = result(factor.shape).block;
      run("mul_backward", {reads(dy), reads(other.block), writes(dx)});
      arrives(factor, dx);
    }
  });
  return y;
}

std::vector<Tensor> Network::slice(const Tensor& x, int parts) {
  Shape shape = x.shape;
  shape.channels /= parts;
  std::vector<Tensor> slices;
  std::vector<Access> accesses = {reads(x.block)};
  for (int i = 0; i < parts; ++i) {
    slices.push_back(result(shape));
    accesses.push_back(writes(slices.back().block));
  }
  run("slice", std::move(accesses));
  tape_.emplace_back([=, this] {
    const BlockId dx = result(x.shape).block;
    std::vector<Access> pieces = {writes(dx)};
    for (const Tensor& piece : slices)
      if (gradient(piece) >= 0) pieces.push_back(reads(gradient(piece)));
    run("slice_backward", std::move(pieces));
    arrives(x, dx);
  });
  return slices;
}

void Network::softmax_loss(const Tensor& x) {
  const Tensor y = result(x.shape);
  run("softmax", {reads(x.block), writes(y.block)});
  tape_.emplace_back([=, this] {
    const BlockId dx = result(x.shape).block;
    run("softmax_backward", {reads(y.block), writes(dx)});
    arrives(x, dx);
  });
}

Program Network::finish() {
  phase_ = Phase::backward;
  for (auto backward = tape_.rbegin(); backward != tape_.rend(); ++backward) (*backward)();
  phase_ = Phase::update;
  for (const Parameter& parameter : parameters_)
    if (parameter.has_gradient)
      run("sgd_momentum",
          {reads(parameter.gradient), updates(parameter.momentum), updates(parameter.weight)});
  set_lifetimes();
  return Program::build({.name = name_}, std::move(ops_), std::move(blocks_));
}

void Network::set_lifetimes() {
  for (OpIndex i = 0; i < static_cast<OpIndex>(ops_.size()); ++i)
    for (const Access& access : ops_[static_cast<std::size_t>(i)].accesses) {
      Block& block = blocks_[static_cast<std::size_t>(access.block)];
      if (block.lifetime == Lifetime::persistent) continue;
      if (block.birth == kNoOp) block.birth = i;
      block.death = i;
    }
}

}  // namespace ebb
