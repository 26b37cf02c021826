#include <gtest/gtest.h>

#include "planners/basic/basic.h"
#include "planners/judge.h"

namespace ebb {
namespace {

// Two activations of 60 bytes each are made, a third op needs 50 for itself, then both are read again, last
// made first.
Program two_activations() {
  const Access write_a{.block = 0, .writes = true};
  const Access write_b{.block = 1, .writes = true};
  const Access write_c{.block = 2, .writes = true};
  const Access read_a{.block = 0, .reads = true};
  const Access read_b{.block = 1, .reads = true};
  auto op = [](Access access) { return Op{.name = "op", .duration = 100, .accesses = {access}}; };
  return Program::build(
      {.name = "two", .smallest_managed = 1}, {op(write_a), op(write_b), op(write_c), op(read_b), op(read_a)},
      {{60, Lifetime::local, 0, 4}, {60, Lifetime::local, 1, 3}, {50, Lifetime::local, 2, 2}});
}

Machine one_byte_per_nanosecond() {
  Machine machine;
  machine.bandwidth_in = machine.bandwidth_out = 1'000'000'000;
  return machine;
}

TEST(OnDemand, EvictsTheBlockUsedLongestAgoAndNothingElse) {
  const Program program = two_activations();
  const Gaps gaps(program);
  const Machine machine = one_byte_per_nanosecond();
  const PlanningResult result = plan_ondemand({program, gaps, machine, 120}, {});
  ASSERT_FALSE(result.infeasible);
  EXPECT_EQ(result.plan[gaps.find(0, 0)].action, Action::swap);
  EXPECT_EQ(result.plan[gaps.find(1, 1)].action, Action::keep);
}

TEST(OnDemand, CopiesNothingAheadOfNeed) {
  const Program program = two_activations();
  const Gaps gaps(program);
  const Machine machine = one_byte_per_nanosecond();
  const JudgedPlan judged = plan_and_judge(find_planner("ondemand"), {program, gaps, machine, 120}, {});
  ASSERT_FALSE(judged.infeasible);
  // Op 2 waits 60 ns for block 0 to leave; op 4 waits 60 ns for it to return.
  EXPECT_EQ(judged.step.step_time, 500 + 60 + 60);
  EXPECT_EQ(judged.step.stalls[static_cast<std::size_t>(StallCause::room)], 60);
  EXPECT_EQ(judged.step.stalls[static_cast<std::size_t>(StallCause::copy_in)], 60);
}

TEST(OnDemand, NamesTheOpThatCannotFit) {
  const Program program = two_activations();
  const Gaps gaps(program);
  const Machine machine = one_byte_per_nanosecond();
  const PlanningResult result = plan_ondemand({program, gaps, machine, 59}, {});
  ASSERT_TRUE(result.infeasible);
  EXPECT_EQ(result.infeasible->obstacle, Obstacle::too_large);
  EXPECT_EQ(result.infeasible->needed, 60);
  EXPECT_EQ(result.infeasible->available, 59);
}

}  // namespace
}  // namespace ebb
