#include "planners/largest_batch.h"

#include <gtest/gtest.h>

#include "batch_steps.h"

namespace ebb {
namespace {

LargestBatch find(std::string_view planner, Bytes limit) {
  const BatchModel model(step_of(2), 2, step_of(4), 4);
  Machine machine;
  machine.bandwidth_in = machine.bandwidth_out = 1'000'000'000;
  return find_largest_batch(model, machine, limit, find_planner(planner), {});
}

TEST(LargestBatch, IsTheLastThatFits) {
  EXPECT_EQ(find("keep", 400).batch, 10);  // 100 + 30 · 10
  EXPECT_EQ(find("keep", 399).batch, 9);
  EXPECT_EQ(find("home", 400).batch, 15);  // 100 + 20 · 15
  EXPECT_EQ(find("home", 399).batch, 14);
}

TEST(LargestBatch, HasItsPlanAndItsThroughput) {
  const LargestBatch plain = find("keep", 400);
  EXPECT_EQ(plain.plan.step.step_time, 3 * (10 + 10));
  EXPECT_DOUBLE_EQ(plain.throughput(), 10 / 60e-9);
  const LargestBatch home = find("home", 400);
  // Op 0 again: 25 ns, less than 2 · 300 ns of copies.
  EXPECT_EQ(home.plan.step.step_time, 4 * (10 + 15));
  EXPECT_LE(home.plan.step.peak_demand, 400);
}

TEST(LargestBatch, SaysWhyNotEvenOneSampleFits) {
  const LargestBatch none = find("home", 119);
  EXPECT_EQ(none.batch, 0);
  EXPECT_EQ(none.throughput(), 0);
  ASSERT_TRUE(none.plan.infeasible);
  EXPECT_EQ(none.plan.infeasible->needed, 120);
}

}  // namespace
}  // namespace ebb
