#include "trace/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "trace/error.h"

namespace ebb {
namespace {

void require(const char* what, int value, int least, int most) {
  if (value < least || value > most)
    throw InputError(fmt::format("{} is {}: {} to {} can be generated", what, value, least, most));
}

// Bottlenecks per stage: in all (depth − 2) / 3, as 3 : 4 : 6 : 3, at least one each.
std::array<int, 4> units_of(int depth) {
  constexpr std::array<int, 4> kProportion = {3, 4, 6, 3};
  const int units = std::max(4, (depth - 2 + 1) / 3);
  std::array<int, 4> stages{};
  int given = 0, share = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    share += kProportion[s];
    const int until = static_cast<int>(std::lround(static_cast<double>(units) * share / 16));
    stages[s] = std::max(1, until - given);
    given += stages[s];
  }
  return stages;
}

Tensor normalised(Network& net, const Tensor& x) { return net.activation("relu", net.batch_norm(x)); }

Tensor convolved(Network& net, const Tensor& x, std::int64_t channels, std::int64_t size, int stride) {
  return net.convolution(x, net.parameter({channels, x.shape.channels, size, size}), stride);
}

Tensor bottleneck(Network& net, const Tensor& x, std::int64_t channels, int stride) {
  const Tensor ready = normalised(net, x);
  const bool same = stride == 1 && x.shape.channels == channels;
  const Tensor shortcut = same ? x : convolved(net, ready, channels, 1, stride);
  const Tensor narrow = convolved(net, ready, channels / 4, 1, 1);
  const Tensor spatial = convolved(net, normalised(net, narrow), channels / 4, 3, stride);
  return net.add(convolved(net, normalised(net, spatial), channels, 1, 1), shortcut);
}

struct Cell {
  Tensor hidden, memory;
};

struct CellWeights {
  Tensor from_input, from_hidden;
};

Cell lstm_cell(Network& net, const Tensor& x, const Cell& before, const CellWeights& weights) {
  const Tensor gates = net.add(net.matrix_product(x, weights.from_input),
                               net.matrix_product(before.hidden, weights.from_hidden));
  const std::vector<Tensor> parts = net.slice(gates, 4);
  const Tensor in = net.activation("sigmoid", parts[0]);
  const Tensor forget = net.activation("sigmoid", parts[1]);
  const Tensor change = net.activation("tanh", parts[2]);
  const Tensor out = net.activation("sigmoid", parts[3]);
  const Tensor memory = net.add(net.multiply(forget, before.memory), net.multiply(in, change));
  return {net.multiply(out, net.activation("tanh", memory)), memory};
}

}  // namespace

Program generate_resnet(const ResNetConfig& config, const Speed& speed) {
  require("depth", config.depth, 14, 100'000);
  require("batch", config.batch, 1, 1'000'000);
  require("image", config.image, 32, 100'000);
  require("classes", config.classes, 1, 10'000'000);
  Network net(fmt::format("resnet-{}-{}-b{}", config.depth, config.image, config.batch), speed);
  Tensor x = convolved(net, net.input({config.batch, 3, config.image, config.image}), 64, 7, 2);
  x = net.pool("max_pool", normalised(net, x), 2);
  const std::array<int, 4> units = units_of(config.depth);
  for (std::size_t stage = 0; stage < units.size(); ++stage)
    for (int unit = 0; unit < units[stage]; ++unit)
      x = bottleneck(net, x, 256LL << stage, unit == 0 && stage > 0 ? 2 : 1);
  x = normalised(net, x);
  x = net.pool("avg_pool", x, static_cast<int>(x.shape.height));
  net.softmax_loss(net.matrix_product(x, net.parameter({x.shape.channels, config.classes, 1, 1})));
  return net.finish();
}

Program generate_lstm(const LstmConfig& config, const Speed& speed) {
  require("steps", config.steps, 1, 100'000);
  require("layers", config.layers, 1, 1'000);
  require("hidden", config.hidden, 1, 1'000'000);
  require("batch", config.batch, 1, 1'000'000);
  require("inputs", config.inputs, 1, 1'000'000);
  require("classes", config.classes, 1, 10'000'000);
  Network net(fmt::format("lstm-{}x{}-T{}-b{}", config.layers, config.hidden, config.steps, config.batch),
              speed);
  const Shape state{config.batch, config.hidden, 1, 1};
  std::vector<CellWeights> weights;
  std::vector<Cell> cells;
  for (int layer = 0; layer < config.layers; ++layer) {
    const std::int64_t inputs = layer == 0 ? config.inputs : config.hidden;
    weights.push_back({net.parameter({inputs, 4LL * config.hidden, 1, 1}),
                       net.parameter({config.hidden, 4LL * config.hidden, 1, 1})});
    const Tensor hidden = net.input(state);
    cells.push_back({hidden, net.input(state)});
  }
  const Tensor output = net.parameter({config.hidden, config.classes, 1, 1});
  for (int step = 0; step < config.steps; ++step) {
    Tensor x = net.input({config.batch, config.inputs, 1, 1});
    for (std::size_t layer = 0; layer < cells.size(); ++layer) {
      cells[layer] = lstm_cell(net, x, cells[layer], weights[layer]);
      x = cells[layer].hidden;
    }
    net.softmax_loss(net.matrix_product(x, output));
  }
  return net.finish();
}

}  // namespace ebb
