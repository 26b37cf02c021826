#include "machine/scale.h"

#include "expect_error.h"

namespace ebb {
namespace {

Program two_ops() {
  std::vector<Op> ops(2);
  ops[0].name = "aten::convolution";
  ops[0].duration = 1'000;
  ops[1].name = "aten::relu_";
  ops[1].duration = 300;
  return Program::build({.name = "two"}, ops, {});
}

TEST(Scale, ConvolutionsMatrixProductsAndAttentionAreArithmetic) {
  for (const char* name :
       {"aten::convolution", "aten::convolution_backward", "cudnn_convolution", "aten::addmm", "mm",
        "aten::bmm", "MatMul_Forward", "Conv2d_Forward", "aten::_scaled_dot_product_efficient_attention"})
    EXPECT_EQ(op_kind(name), OpKind::arithmetic) << name;
  for (const char* name : {"aten::relu_", "cudnn_batch_norm", "aten::add_.Tensor", "aten::gelu", "aten::cat"})
    EXPECT_EQ(op_kind(name), OpKind::traffic) << name;
}

TEST(Scale, EachKindOfOpScalesByWhatLimitsIt) {
  const Machine fast{.name = "fast", .teraflops = 100, .memory_gb_per_s = 4000};
  const Machine slow{.name = "slow", .teraflops = 10, .memory_gb_per_s = 1000};
  const Program program = two_ops();
  const Machine scaled = scale_to(slow, fast, program);
  EXPECT_EQ(scaled.op_time(program.op(0)), 10'000);
  EXPECT_EQ(scaled.op_time(program.op(1)), 1'200);
}

TEST(Scale, AnUnknownRateIsRefused) {
  const Machine fast{.name = "fast", .teraflops = 100, .memory_gb_per_s = 4000};
  const Machine unknown{.name = "unknown", .teraflops = 100};
  EXPECT_INPUT_ERROR(scale_to(unknown, fast, two_ops()), "memory_gb_per_s", "'unknown'");
}

TEST(Scale, AStepTimeIsMatchedAndProportionsKept) {
  Machine machine{.name = "paper"};
  machine.op_scale["aten::relu_"] = 2;  // 1000 + 600
  const Program program = two_ops();
  const Machine matched = match_step_time(machine, program, 16'000);
  EXPECT_EQ(matched.op_time(program.op(0)), 10'000);
  EXPECT_EQ(matched.op_time(program.op(1)), 6'000);
  EXPECT_INPUT_ERROR(match_step_time(machine, program, 0), "0 ns");
}

}  // namespace
}  // namespace ebb
