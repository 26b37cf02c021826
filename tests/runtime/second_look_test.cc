#include "runtime/second_look.h"

#include <gtest/gtest.h>

#include "literal_programs.h"

namespace ebb::testing {
namespace {

Program two_ops(Nanoseconds first, Nanoseconds second) {
  return literal_program({op({writes(0)}, first), op({reads(0)}, second)}, {local(64, 0, 1)});
}

TEST(OpTimesSeen, AreMediansOfTheIterationsInWhichAnOpWasTimed) {
  OpTimes times;
  times.add({10, OpTimes::kNotTimed, 7});
  times.add({30, OpTimes::kNotTimed, 9});
  EXPECT_FALSE(times.enough());
  times.add({20, 5});
  EXPECT_TRUE(times.enough());
  times.add({40, 40, 40});
  EXPECT_EQ(times.median(0), 20);
  EXPECT_EQ(times.median(1), 5);
  EXPECT_EQ(times.median(2), 7);
  EXPECT_EQ(times.median(3), std::nullopt);
  EXPECT_EQ(times.least(0), 10);
  EXPECT_EQ(times.least(3), std::nullopt);
}

TEST(TimesUnderAPlan, AThirtiethIsNoDifference) {
  EXPECT_TRUE(are_alike(3'000, 3'000));
  EXPECT_TRUE(are_alike(2'905, 3'000));
  EXPECT_FALSE(are_alike(2'890, 3'000));
  EXPECT_FALSE(are_alike(3'000, 2'890));
}

TEST(TimesUnderAPlan, ReplaceThoseBeforeWhereAnOpWasTimed) {
  SeenTimes times;
  times.ops.add({600});
  times.host.add({30, OpTimes::kNotTimed});
  times.host.add({20, 70});
  const TimedStep seen = as_seen(two_ops(1'000, 2'000), times, {.op_issue = 40});
  EXPECT_EQ(seen.program.op(0).duration, 600);
  EXPECT_EQ(seen.program.op(1).duration, 2'000);
  EXPECT_EQ(seen.machine.op_issue, 45) << "the least of each, in the mean";
  EXPECT_EQ(seen.machine.host_lead, 1'000 * 2'600 / 2) << "as far as a thousand ops take";
}

TEST(TimesUnderAPlan, AreThoseItWasMadeForIfOpsAndHostTakeAsLong) {
  const Program before = two_ops(1'000, 2'000);
  PreparedPlan plan(before);
  plan.step.plain_time = 8'000;  // for a host of 4 us an op
  const auto with = [&](Nanoseconds first, Nanoseconds host) {
    return TimedStep{two_ops(first, 2'000), {.op_issue = host}};
  };
  EXPECT_TRUE(is_made_for(plan, before, with(1'050, 4'010)));
  EXPECT_FALSE(is_made_for(plan, before, with(600, 4'000)));
  EXPECT_FALSE(is_made_for(plan, before, with(1'000, 2'500)));
}

// The activations of a chain, of which a few fit.
class Calibrated : public ::testing::Test {
 protected:
  static constexpr OpIndex kLayers = 12;
  static Program chain() {
    std::vector<Op> ops;
    std::vector<Block> blocks;
    for (OpIndex i = 0; i < kLayers; ++i) {
      ops.push_back(op({writes(i)}, 1'000'000));
      blocks.push_back(local(kMiB, i, 2 * kLayers - 1 - i));
    }
    for (OpIndex i = kLayers; i-- > 0;) ops.push_back(op({reads(i)}, 1'000'000));
    return literal_program(std::move(ops), std::move(blocks));
  }
  Preparation prepared(const std::string& planner, Bytes bandwidth) {
    machine.bandwidth_out = machine.bandwidth_in = bandwidth;
    return prepare_plan(program, machine,
                        {.planner = planner, .capacity = 4 * kMiB, .planning = {.allow_recompute = false}});
  }
  Program program = chain();
  Machine machine{.name = "link"};
};

TEST_F(Calibrated, ThePlanTakesTheStepThatWasMeasured) {
  const Preparation preparation = prepared("ondemand", 4'000'000'000);
  ASSERT_TRUE(preparation.plan) << preparation.refusal;
  const PreparedPlan& plan = *preparation.plan;
  EXPECT_EQ(step_of(plan, program, machine), plan.predicted_step);
  for (const Nanoseconds measured : {plan.predicted_step * 9 / 10, plan.predicted_step * 5 / 4}) {
    const TimedStep step = calibrated({program, machine}, plan, measured);
    EXPECT_NEAR(static_cast<double>(step_of(plan, step.program, step.machine)), static_cast<double>(measured),
                0.01 * static_cast<double>(measured));
    EXPECT_EQ(step.program.op(0).duration, step.program.op(5).duration);
    EXPECT_EQ(step.machine, machine);
  }
}

TEST_F(Calibrated, OpsBecomeHalfAsLongAtTheLeastAndTwiceAtTheMost) {
  const Preparation preparation = prepared("ondemand", 4'000'000'000);
  ASSERT_TRUE(preparation.plan) << preparation.refusal;
  const auto ops = [&](Nanoseconds measured) {
    return calibrated({program, machine}, *preparation.plan, measured).program.compute_time();
  };
  EXPECT_EQ(ops(1), program.compute_time() / 2);
  EXPECT_EQ(ops(100 * program.compute_time()), 2 * program.compute_time());
}

TEST_F(Calibrated, AStepOfCopiesSaysNothingAboutOps) {
  const Preparation preparation = prepared("ebb", 50'000'000);
  ASSERT_TRUE(preparation.plan) << preparation.refusal;
  const Nanoseconds slower = preparation.plan->predicted_step * 5 / 4;
  const TimedStep step = calibrated({program, machine}, *preparation.plan, slower);
  EXPECT_EQ(step.program.compute_time(), program.compute_time());
  EXPECT_EQ(step.machine, machine);
}

TEST_F(Calibrated, WhereTheDeviceWaitsForItsHostThatMayBeFasterButNotSlower) {
  machine.op_issue = 2'500'000;
  machine.follow_issue = 500'000;
  const Preparation preparation = prepared("ebb", 4'000'000'000);
  ASSERT_TRUE(preparation.plan) << preparation.refusal;
  const PreparedPlan& plan = *preparation.plan;
  const TimedStep slower = calibrated({program, machine}, plan, plan.predicted_step * 6 / 5);
  EXPECT_EQ(slower.program.compute_time(), program.compute_time());
  EXPECT_EQ(slower.machine, machine);
  const TimedStep faster = calibrated({program, machine}, plan, plan.predicted_step * 4 / 5);
  EXPECT_EQ(faster.program.compute_time(), program.compute_time());
  EXPECT_NEAR(static_cast<double>(faster.machine.op_issue), 2'000'000, 40'000);
  EXPECT_NEAR(static_cast<double>(faster.machine.follow_issue), 400'000, 8'000);
}

}  // namespace
}  // namespace ebb::testing
