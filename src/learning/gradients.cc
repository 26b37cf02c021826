#include "learning/gradients.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_sparse_mm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sparse_coo_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "planners/dqn/network.h"

namespace ebb::learning {
namespace {

using at::Tensor;
using dqn::Sample;

// Its ops are small: a second thread gains little, and waits in a loop for a core that others are using.
constexpr int kThreads = 1;
constexpr double kLargestNorm = 10;  // of the gradient; a longer one is shortened
constexpr double kDecayMean = 0.9, kDecaySquare = 0.999, kTiny = 1e-8;

Tensor to_tensor(const Eigen::MatrixXf& matrix) {
  Tensor tensor = at::zeros({matrix.rows(), matrix.cols()});
  auto values = tensor.accessor<float, 2>();
  for (Eigen::Index r = 0; r < matrix.rows(); ++r)
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) values[r][c] = matrix(r, c);
  return tensor;
}

Eigen::MatrixXf to_matrix(const Tensor& tensor) {
  Eigen::MatrixXf matrix(tensor.size(0), tensor.size(1));
  const auto values = tensor.accessor<float, 2>();
  for (Eigen::Index r = 0; r < matrix.rows(); ++r)
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) matrix(r, c) = values[r][c];
  return matrix;
}

// Adam, one moment each per matrix.
class Optimizer {
 public:
  explicit Optimizer(std::vector<Tensor> parameters) : parameters_(std::move(parameters)) {
    for (const Tensor& parameter : parameters_) {
      means_.push_back(at::zeros_like(parameter));
      squares_.push_back(at::zeros_like(parameter));
    }
  }

  void step(double rate) {
    const at::NoGradGuard no_grad;
    double norm = 0;
    for (const Tensor& parameter : parameters_) norm += parameter.grad().square().sum().item<double>();
    const double shorten = std::min(1.0, kLargestNorm / (std::sqrt(norm) + kTiny));
    ++steps_;
    const double unbias_mean = 1 - std::pow(kDecayMean, steps_);
    const double unbias_square = 1 - std::pow(kDecaySquare, steps_);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor gradient = parameters_[i].grad() * shorten;
      means_[i].mul_(kDecayMean).add_(gradient, 1 - kDecayMean);
      squares_[i].mul_(kDecaySquare).add_(gradient.square(), 1 - kDecaySquare);
      const Tensor root = (squares_[i] / unbias_square).sqrt().add_(kTiny);
      parameters_[i].sub_(means_[i] / root * (rate / unbias_mean));
      parameters_[i].mutable_grad() = Tensor();
    }
  }

 private:
  std::vector<Tensor> parameters_, means_, squares_;
  int steps_ = 0;
};

class TorchTrainer : public dqn::Trainer {
 public:
  TorchTrainer(const dqn::Graph& graph, const dqn::Weights& start) : nodes_(graph.size()) {
    for (const Eigen::MatrixXf& matrix : start.matrices) {
      w_.push_back(to_tensor(matrix));
      w_.back().set_requires_grad(true);
    }
    optimizer_.emplace(w_);
    describe(graph);
  }

  std::vector<double> q(std::span<const Sample> batch) override {
    at::set_num_threads(kThreads);
    const at::NoGradGuard no_grad;
    const Tensor values = forward(batch);
    std::vector<double> result;
    for (std::int64_t i = 0; i < values.size(0); ++i) result.push_back(values[i].item<double>());
    return result;
  }

  double fit(std::span<const Sample> batch, double rate) override {
    at::set_num_threads(kThreads);
    std::vector<float> targets;
    for (const Sample& sample : batch) targets.push_back(static_cast<float>(sample.target));
    const Tensor loss = (at::tensor(targets) - forward(batch)).square().mean();
    loss.backward();
    optimizer_->step(rate);
    return loss.item<double>();
  }

  dqn::Weights weights() const override {
    dqn::Weights weights;
    for (std::size_t i = 0; i < w_.size(); ++i) weights.matrices[i] = to_matrix(w_[i]);
    return weights;
  }

 private:
  const Tensor& w(std::size_t i) const { return w_[i - 1]; }

  void describe(const dqn::Graph& graph) {
    std::vector<std::int64_t> rows, columns;
    features_ = at::zeros({nodes_, static_cast<std::int64_t>(dqn::kFeatures)});
    lags_ = at::zeros({nodes_, 1});
    auto features = features_.accessor<float, 2>();
    auto lags = lags_.accessor<float, 2>();
    for (int v = 0; v < nodes_; ++v) {
      for (std::size_t k = 0; k < dqn::kFeatures; ++k)
        features[v][static_cast<std::int64_t>(k)] = graph[v].features[k];
      lags[v][0] = graph.weight_sum(v);
      for (const int u : graph.neighbours(v)) {
        rows.push_back(v);
        columns.push_back(u);
      }
    }
    const auto edges = static_cast<std::int64_t>(rows.size());
    const Tensor where = at::cat({at::tensor(rows).unsqueeze(0), at::tensor(columns).unsqueeze(0)});
    adjacency_ = at::sparse_coo_tensor(where, at::zeros({edges}).fill_(1), {nodes_, nodes_}).coalesce();
  }

  // Eq. 1–3 for all samples at once: states are nodes × samples × p.
  Tensor forward(std::span<const Sample> batch) const {
    const auto samples = static_cast<std::int64_t>(batch.size());
    const std::int64_t p = w(1).size(0);
    Tensor valid = at::zeros({nodes_, samples});
    std::vector<std::int64_t> current, action;
    auto is_valid = valid.accessor<float, 2>();
    for (std::int64_t i = 0; i < samples; ++i) {
      const Sample& sample = batch[static_cast<std::size_t>(i)];
      for (const int v : sample.valid) is_valid[v][i] = 1;
      current.push_back(sample.current * samples + i);
      action.push_back(sample.action * samples + i);
    }
    const Tensor fixed =
        at::matmul(features_, w(1).t()) + lags_ * at::matmul(w(3), at::relu(w(4))).squeeze(1);
    const Tensor base =
        fixed.unsqueeze(1) + valid.unsqueeze(2) * w(1).select(1, static_cast<std::int64_t>(dqn::kValidity));
    Tensor state = at::relu(base);
    for (int round = 1; round < dqn::kRounds; ++round) {
      const Tensor sums = at::_sparse_mm(adjacency_, state.reshape({nodes_, samples * p}));
      state = at::relu(base + at::matmul(sums.reshape({nodes_, samples, p}), w(2).t()));
    }
    const Tensor flat = state.reshape({nodes_ * samples, p});
    const Tensor whole = at::matmul(state.sum(0) / nodes_, w(5).t());
    const Tensor here = at::matmul(flat.index_select(0, at::tensor(current)), w(6).t());
    const Tensor chosen = at::matmul(flat.index_select(0, at::tensor(action)), w(8).t());
    return at::matmul(at::relu(at::cat({whole, here, chosen}, 1)), w(7).t()).squeeze(1);
  }

  std::int64_t nodes_;
  std::vector<Tensor> w_;
  std::optional<Optimizer> optimizer_;
  Tensor features_, lags_, adjacency_;
};

}  // namespace
}  // namespace ebb::learning

extern "C" ebb::dqn::Trainer* ebb_make_trainer(const ebb::dqn::Graph& graph, const ebb::dqn::Weights& start) {
  return new ebb::learning::TorchTrainer(graph, start);
}
