#include "planners/robustness.h"

#include <gtest/gtest.h>

#include "literal_programs.h"

namespace ebb {
namespace {

// A block that is away over half of four ops of 10 us each.
Program four_ops() {
  return literal_program(
      {op({writes(0)}, 10'000), op({writes(1)}, 10'000), op({reads(1)}, 10'000), op({reads(0)}, 10'000)},
      {local(100, 0, 3), local(100, 1, 2)});
}

Plan with_one_swap(const Gaps& gaps) {
  Plan plan = Plan::keep_all(gaps);
  for (GapId g = 0; g < gaps.count(); ++g)
    if (gaps[g].block == 0 && gaps[g].kind == GapKind::between) plan[g] = swap_it();
  return plan;
}

TEST(Robustness, NothingIsSlowerWhereNothingMoves) {
  const Program program = four_ops();
  const Gaps gaps(program);
  const Machine machine{.name = "m", .bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000};
  const auto judged = judge_robustness({program, gaps, machine, 200}, Plan::keep_all(gaps), 0.05, 4, 1);
  ASSERT_TRUE(judged);
  EXPECT_NEAR(judged->worst, 1.0, 1e-9);
}

TEST(Robustness, AStepThatWaitsForItsHostIsComparedWithOneThatDoes) {
  const Program program = four_ops();
  const Gaps gaps(program);
  Machine machine{.name = "m", .bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000};
  machine.op_issue = 100'000;
  const auto judged = judge_robustness({program, gaps, machine, 200}, with_one_swap(gaps), 0.05, 4, 1);
  ASSERT_TRUE(judged);
  EXPECT_NEAR(judged->worst, 1.0, 0.01) << "copies of 100 ns hide behind 100 us of the host";
}

}  // namespace
}  // namespace ebb
