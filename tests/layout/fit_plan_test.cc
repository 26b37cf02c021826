#include "layout/fit_plan.h"

#include <gtest/gtest.h>

#include <utility>

#include "layout/planned_offsets.h"
#include "layout/validate.h"
#include "literal_programs.h"
#include "plan/lower.h"
#include "plan/validate.h"
#include "random_programs.h"

namespace ebb::layout {
namespace {

struct Case {
  Program program;
  Gaps gaps;
  Machine machine = {};
  Bytes limit = 0;
  Plan plan = {};

  explicit Case(std::uint64_t seed) : Case(Random(seed)) {}
  explicit Case(Random random) : program(random_program(random)), gaps(program) {
    machine = random_machine(random);
    limit = random_limit(random, program);
    plan = random_plan(random, program, gaps);
  }

  bool is_carried_out() const {
    LoweredPlan lowered;
    if (Lowerer(program, gaps).lower(plan, limit, lowered)) return false;
    Timeline timeline;
    Schedule schedule;
    const StepResult step = Simulator(program, gaps, machine).run(lowered, limit, timeline, schedule);
    return !step.infeasible && !schedule.commands.empty();
  }
  FittedPlan fit(const FitOptions& options = {.alignment = 1, .budget = 2'000, .deadline_seconds = 0}) const {
    return fit_plan({program, gaps, machine, limit}, plan, options);
  }
};

TEST(FitPlan, KeepsTheLimitByAddressAndPassesBothValidatorsOnRandomPlans) {
  int carried_out = 0, fitted = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const Case c(seed);
    if (!c.is_carried_out()) continue;
    ++carried_out;
    const FittedPlan fit = c.fit();
    if (!fit.fits) continue;
    ++fitted;
    EXPECT_LE(fit.footprint, c.limit) << "seed " << seed;
    EXPECT_LE(fit.load, fit.footprint) << "seed " << seed;
    EXPECT_LE(fit.step.peak_demand, fit.footprint) << "seed " << seed;
    EXPECT_EQ(fit.footprint, fit.layout.footprint + c.program.info().unmanaged) << "seed " << seed;
    EXPECT_TRUE(validate(fit.arena.problem, fit.layout, {.alignment = 1}).empty()) << "seed " << seed;
    EXPECT_TRUE(ebb::validate(c.program, c.gaps, fit.lowered, fit.schedule, c.limit).empty())
        << "seed " << seed;
  }
  EXPECT_GT(fitted, carried_out * 9 / 10) << "of " << carried_out;
}

TEST(FitPlan, ChangesWhenThingsMoveButNotWhatIsDecided) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Case c(seed);
    const FittedPlan fit = c.fit();
    if (!fit.fits) continue;
    for (GapId g = 0; g < c.gaps.count(); ++g)
      EXPECT_EQ(fit.lowered.plan[g].action, c.plan[g].action) << "seed " << seed << " gap " << g;
  }
}

// Copies that slow nothing down leave times to the order alone: what the simulator says with gates is what
// a runtime does that waits for the previous holders of its addresses.
TEST(FitPlan, IsPredictedAlikeByTheSimulatorAndByReplayingItsSchedule) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Case c(seed);
    c.machine.exclusive = false;
    c.machine.bandwidth_both = 0;
    c.machine.compute_stretch = {1'000'000, 1'000'000, 1'000'000, 1'000'000};
    const FittedPlan fit = c.fit();
    if (!fit.fits || !fit.step.periodic) continue;
    ++compared;
    EXPECT_LE(fit.step_time, fit.step.step_time) << "seed " << seed;
  }
  EXPECT_GT(compared, 100);
}

TEST(FitPlan, GivesTheSameAnswerTwice) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Case c(seed);
    const FittedPlan first = c.fit();
    const FittedPlan second = c.fit();
    EXPECT_EQ(first.fits, second.fits);
    EXPECT_EQ(first.layout, second.layout) << "seed " << seed;
    EXPECT_EQ(first.schedule, second.schedule) << "seed " << seed;
  }
}

TEST(FitPlan, LeavesAPlanAloneThatFitsAsItIs) {
  Case c(1);
  c.plan = Plan::keep_all(c.gaps);
  c.limit = 2 * c.program.peak_demand();
  const FittedPlan fit = c.fit();
  ASSERT_TRUE(fit.fits);
  EXPECT_EQ(fit.retiming, Retiming::none);
  EXPECT_EQ(fit.planned_for, c.limit);
  EXPECT_EQ(fit.attempts, 1);
}

TEST(FitPlan, SaysThatAPlanDoesNotFitWhichNeedsMoreThanTheLimit) {
  Case c(1);
  c.plan = Plan::keep_all(c.gaps);
  c.limit = c.program.peak_demand() - 1;
  EXPECT_FALSE(c.fit().fits);
  c.limit = 0;
  EXPECT_FALSE(c.fit().fits);
}

TEST(FitPlan, KeepsTheReserveFree) {
  int fitted = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Case c(seed);
    c.limit += 7;
    const FittedPlan fit = c.fit({.alignment = 1, .reserve = 7, .budget = 2'000, .deadline_seconds = 0});
    if (!fit.fits) continue;
    ++fitted;
    EXPECT_LE(fit.footprint + 7, c.limit) << "seed " << seed;
  }
  EXPECT_GT(fitted, 50);
}

// a is idle while b lives; together they do not fit.
TEST(FitPlan, AsksForAPlanForLessUntilOneFits) {
  const Program program = literal_program({op({writes(0)}), op({writes(1)}), op({reads(1)}), op({reads(0)})},
                                          {local(1000, 0, 3), local(1000, 1, 2)});
  const Gaps gaps(program);
  Machine machine;
  machine.bandwidth_in = machine.bandwidth_out = 1'000'000'000;
  const Plan keep = Plan::keep_all(gaps);
  Plan swap = keep;
  swap[gaps.find(0, 0)] = swap_it();
  std::vector<Bytes> asked;
  const FitOptions options{.alignment = 1, .make_plan = [&](Bytes limit) -> std::optional<Plan> {
                             asked.push_back(limit);
                             return asked.size() == 3 ? swap : keep;
                           }};
  const FittedPlan fit = fit_plan({program, gaps, machine, 1900}, keep, options);
  ASSERT_TRUE(fit.fits);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_GT(1900, asked[0]);
  EXPECT_GT(asked[0], asked[1]);
  EXPECT_GT(asked[1], asked[2]);
  EXPECT_EQ(fit.planned_for, asked[2]);
  EXPECT_EQ(fit.footprint, 1000);
}

TEST(FitPlan, ComesToTheSameInOneGoAndInTwo) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Case c(seed);
    FitOptions options{.alignment = 1, .budget = 100, .deadline_seconds = 0};
    const FittedPlan both = c.fit(options);
    options.effort = Effort::usual;
    FittedPlan parts = c.fit(options);
    options.effort = Effort::last;
    if (!parts.fits) parts = c.fit(options);
    EXPECT_EQ(both.fits, parts.fits) << "seed " << seed;
    EXPECT_EQ(both.layout, parts.layout) << "seed " << seed;
  }
}

// With a plan that is known to be too large by `excess`, so many seconds of ten after the begin; and for how
// much others were asked for.
std::pair<FittedPlan, std::vector<Bytes>> fit_again(Bytes excess, double seconds = 0) {
  const Program program = literal_program({op({writes(0)}), op({writes(1)}), op({reads(1)}), op({reads(0)})},
                                          {local(1000, 0, 3), local(1000, 1, 2)});
  const Gaps gaps(program);
  Machine machine;
  machine.bandwidth_in = machine.bandwidth_out = 1'000'000'000;
  Plan swap = Plan::keep_all(gaps);
  swap[gaps.find(0, 0)] = swap_it();
  std::vector<Bytes> asked;
  const auto make_plan = [&](Bytes limit) -> std::optional<Plan> {
    asked.push_back(limit);
    return swap;
  };
  bool has_begun = false;
  const auto clock = [&] { return std::exchange(has_begun, true) ? seconds : 0; };
  FittedPlan fit = fit_plan({program, gaps, machine, 2000}, Plan::keep_all(gaps),
                            {.alignment = 1,
                             .deadline_seconds = 10,
                             .make_plan = make_plan,
                             .at_any_rate = true,
                             .excess = excess,
                             .seconds_now = clock});
  return {std::move(fit), std::move(asked)};
}

TEST(FitPlan, DoesNotPackAgainWhatIsKnownToBeTooLarge) {
  const auto [fit, asked] = fit_again(300);
  ASSERT_TRUE(fit.fits);
  EXPECT_EQ(asked, (std::vector<Bytes>{1850}));
  EXPECT_EQ(fit.attempts, 1);
}

TEST(FitPlan, TakesLittleOffUnlessAPlanIsMuchTooLarge) {
  EXPECT_EQ(fit_again(1).second, (std::vector<Bytes>{1989}));    // a 200th, and one
  EXPECT_EQ(fit_again(15).second, (std::vector<Bytes>{1985}));   // as much as it is too large
  EXPECT_EQ(fit_again(100).second, (std::vector<Bytes>{1979}));  // a 100th
  EXPECT_EQ(fit_again(300).second, (std::vector<Bytes>{1850}));  // half of what it is too large
}

TEST(FitPlan, TakesAllOffThatIsTooMuchOnceAQuarterOfTheTimeIsSpent) {
  EXPECT_EQ(fit_again(100, 2).second, (std::vector<Bytes>{1979}));
  EXPECT_EQ(fit_again(100, 3).second, (std::vector<Bytes>{1900}));
  EXPECT_EQ(fit_again(300, 3).second, (std::vector<Bytes>{1700}));
}

TEST(FitPlan, AsksForMuchLessOnceTheTimeIsOverAndNothingFits) {
  const auto [fit, asked] = fit_again(300, 11);
  EXPECT_EQ(asked, (std::vector<Bytes>{1969}));  // a 64th
  ASSERT_TRUE(fit.fits);
  EXPECT_EQ(fit.planned_for, 1969);
}

TEST(FitPlan, HasAnOffsetForEveryBirthAndReturn) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Case c(seed);
    const FittedPlan fit = c.fit();
    if (!fit.fits) continue;
    const PlannedOffsets offsets = planned_offsets(c.program, c.gaps, fit.lowered, fit.arena, fit.layout);
    for (const std::int32_t i : fit.lowered.ins) {
      const GapId gap = fit.lowered.swaps[static_cast<std::size_t>(i)].gap;
      EXPECT_NE(offsets.returns[static_cast<std::size_t>(gap)], kUnplanned) << "seed " << seed;
    }
    for (OpIndex op = 0; op < c.program.op_count(); ++op)
      for (std::size_t nth = 0; nth < c.program.op(op).births.size(); ++nth)
        EXPECT_NE(offsets.births.offset(op, static_cast<int>(nth)), kUnplanned) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ebb::layout
