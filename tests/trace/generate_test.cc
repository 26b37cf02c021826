#include "trace/generate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trace/error.h"
#include "trace/export_step.h"
#include "trace/import_step.h"

namespace ebb {
namespace {

constexpr Speed kSpeed{1e12, 1e11};

int count(const Program& program, std::string_view name) {
  return static_cast<int>(std::count_if(program.ops().begin(), program.ops().end(),
                                        [&](const Op& op) { return op.name == name; }));
}

Bytes persistent_bytes(const Program& program) {
  Bytes total = 0;
  for (const Block& block : program.blocks())
    if (block.lifetime == Lifetime::persistent) total += block.bytes;
  return total;
}

// The format lists what an op reads before what it writes.
std::vector<Op> with_sorted_accesses(const Program& program) {
  std::vector<Op> ops = program.ops();
  for (Op& op : ops)
    std::sort(op.accesses.begin(), op.accesses.end(),
              [](const Access& a, const Access& b) { return a.block < b.block; });
  return ops;
}

TEST(Network, BackwardRunsInReverseWithTheFewestDependencies) {
  Network net("tiny", kSpeed);
  const Tensor x = net.input({4, 8, 1, 1});
  const Tensor w = net.parameter({8, 16, 1, 1});
  const Tensor y = net.activation("relu", net.matrix_product(x, w));
  net.softmax_loss(y);
  const Program program = net.finish();
  std::vector<std::string> names;
  for (const Op& op : program.ops()) names.push_back(op.name);
  EXPECT_EQ(names, (std::vector<std::string>{"mm", "relu", "softmax", "softmax_backward", "relu_backward",
                                             "mm_backward_weight", "sgd_momentum"}));
  // What the product made is not read after the activation; what that made is, by its backward.
  EXPECT_EQ(program.block(y.block - 1).death, 1);
  EXPECT_EQ(program.block(y.block).death, 4);
}

// 2 · 4 · 16 · 8 operations at 10¹² a second are 1.024 ns; 4·8 + 8·16 + 4·16 floats at 10¹¹ bytes a second
// are 8.96 ns.
TEST(Network, AnOpTakesAsLongAsItsArithmeticOrItsTraffic) {
  for (const auto& [speed, expected] :
       {std::pair{Speed{1e12, 1e11}, Nanoseconds{9}}, std::pair{Speed{1e10, 1e11}, Nanoseconds{102}}}) {
    Network net("tiny", speed);
    net.softmax_loss(net.matrix_product(net.input({4, 8, 1, 1}), net.parameter({8, 16, 1, 1})));
    EXPECT_EQ(net.finish().op(0).duration, expected);
  }
}

// A skip: x → relu → add(x): the gradient of x comes from the sum itself and through the activation.
TEST(Network, GradientsThatMeetAreAdded) {
  Network net("skip", kSpeed);
  const Tensor x = net.batch_norm(net.input({4, 8, 1, 1}));
  net.softmax_loss(net.add(net.activation("relu", x), x));
  const Program program = net.finish();
  EXPECT_EQ(count(program, "add_"), 1);
  EXPECT_EQ(count(program, "add"), 1);
}

TEST(GenerateResNet, AtDepth50HasTheSizesOfResNet50) {
  const Program program = generate_resnet({}, kSpeed);
  EXPECT_EQ(count(program, "convolution"), 1 + 16 * 3 + 4);
  EXPECT_EQ(count(program, "batch_norm"), 1 + 16 * 3 + 1);
  // 23.45 million weights in convolutions and 2.05 million in the classifier, each with gradient and
  // momentum.
  const Bytes images = 32LL * 3 * 224 * 224 * 4;
  EXPECT_NEAR(static_cast<double>(persistent_bytes(program) - images) / 12, 25.5e6, 0.05e6);
}

TEST(GenerateResNet, GrowsByWholeBottlenecksInAllStages) {
  const Program program = generate_resnet({.depth = 1001, .batch = 1, .image = 32}, kSpeed);
  EXPECT_EQ(count(program, "convolution"), 1 + 333 * 3 + 4);
}

TEST(GenerateLstm, EveryStepHasEveryGateAndGradientsOfWeightsAreAddedUp) {
  const LstmConfig config{.steps = 3, .layers = 2, .hidden = 8, .batch = 4, .inputs = 5, .classes = 6};
  const Program program = generate_lstm(config, kSpeed);
  EXPECT_EQ(count(program, "sigmoid"), 3 * 2 * 3);
  EXPECT_EQ(count(program, "mm"), 3 * (2 * 2 + 1));
  EXPECT_EQ(count(program, "mm_backward_weight"), 3 * (2 * 2 + 1));
  EXPECT_EQ(count(program, "sgd_momentum"), 2 * 2 + 1);
}

TEST(Generate, RefusesWhatMakesNoNetwork) {
  EXPECT_THROW(generate_resnet({.depth = 3}, kSpeed), InputError);
  EXPECT_THROW(generate_lstm({.steps = 0}, kSpeed), InputError);
  EXPECT_THROW(generate_lstm({}, Speed{}), InputError);
}

TEST(ExportStep, WhatIsImportedAgainIsTheSame) {
  for (const Program& program :
       {generate_resnet({.depth = 14, .batch = 2, .image = 32}, kSpeed),
        generate_lstm({.steps = 2, .layers = 1, .hidden = 8, .batch = 4, .inputs = 5, .classes = 6},
                      kSpeed)}) {
    const Program again = import_step(export_step(program), "again");
    EXPECT_EQ(again.info().name, program.info().name);
    EXPECT_TRUE(with_sorted_accesses(again) == with_sorted_accesses(program));
    EXPECT_TRUE(again.blocks() == program.blocks());
  }
}

}  // namespace
}  // namespace ebb
