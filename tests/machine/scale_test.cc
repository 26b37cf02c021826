#include "machine/scale.h"

#include "expect_error.h"
#include "literal_programs.h"

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

// Of 10 µs the first op moves memory for 2, of 30 the second for 3.
TEST(Scale, ComputeThatTakesLessOfTheMemorySuffersLessFromCopies) {
  const Program program =
      literal_program({op({reads(0), writes(1)}, 10'000), op({updates(1)}, 30'000), op({reads(0)}, 0)},
                      {persistent(500'000), persistent(1'500'000)});
  const Machine worst{.memory_gb_per_s = 1000,
                      .compute_stretch = {1'000'000, 1'020'000, 1'040'000, 1'050'000},
                      .worst_stretch = true};
  const Machine fitted = stretched_as(worst, program);  // (2 + 3) / 40
  EXPECT_EQ(fitted.compute_stretch, (std::array<std::int64_t, 4>{1'000'000, 1'002'500, 1'005'000, 1'006'250}));
  EXPECT_EQ(stretched_as(fitted, program), fitted);
  Machine faster = worst;  // whose ops all wait for memory: none moves it for longer than it takes
  faster.compute_scale = 0.1;
  EXPECT_EQ(stretched_as(faster, program).compute_stretch, worst.compute_stretch);
  Machine known = worst;
  known.worst_stretch = false;
  EXPECT_EQ(stretched_as(known, program), known);
  Machine unknown = worst;
  unknown.memory_gb_per_s = 0;
  EXPECT_EQ(stretched_as(unknown, program), unknown);
}

}  // namespace
}  // namespace ebb
