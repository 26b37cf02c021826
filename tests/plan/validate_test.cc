#include "plan/validate.h"

#include <gtest/gtest.h>

#include "literal_programs.h"
#include "plan/lower.h"

namespace ebb {
namespace {

Command run(OpIndex op, std::int32_t ended) { return {.kind = CommandKind::run, .op = op, .ended = ended}; }
Command replay(OpIndex op, std::int32_t ended) {
  return {.kind = CommandKind::replay, .op = op, .ended = ended};
}
Command copy(CommandKind kind, GapId gap, std::int32_t ended) {
  return {.kind = kind, .gap = gap, .ended = ended};
}

constexpr auto out = CommandKind::start_out;
constexpr auto release = CommandKind::release;
constexpr auto in = CommandKind::start_in;
constexpr auto drop = CommandKind::drop;

struct Checked {
  Program program;
  Gaps gaps{program};
  Plan plan = Plan::keep_all(gaps);

  Checked(std::vector<Op> ops, std::vector<Block> blocks)
      : program(literal_program(std::move(ops), std::move(blocks))) {}
  LoweredPlan lower(Bytes limit) {
    LoweredPlan lowered;
    EXPECT_FALSE(Lowerer(program, gaps).lower(plan, limit, lowered));
    return lowered;
  }
  // The first broken rule, or nothing.
  std::optional<Violation> check(std::vector<Command> commands, Bytes limit = 20) {
    const auto violations = validate(program, gaps, lower(limit), {std::move(commands)}, limit);
    return violations.empty() ? std::nullopt : std::optional(violations.front());
  }
};

// a (10): written by op 0, read by op 4, swapped; b (20) lives in op 2.
Checked swapped() {
  Checked p({op({writes(0)}), op({}), op({writes(1)}), op({}), op({reads(0)})},
            {local(10, 0, 4), local(20, 2, 2)});
  p.plan[p.gaps.find(0, 0)] = swap_it();
  return p;
}

void expect_rule(const std::optional<Violation>& violation, Rule rule, OpIndex op, BlockId block) {
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->rule, rule) << violation->sentence;
  EXPECT_EQ(violation->op, op) << violation->sentence;
  EXPECT_EQ(violation->block, block) << violation->sentence;
  EXPECT_FALSE(violation->sentence.empty());
}

TEST(Validate, HasNothingToSayAboutASafeSchedule) {
  Checked p = swapped();
  EXPECT_FALSE(p.check({run(0, 0), copy(out, 0, 1), run(1, 1), copy(release, 0, 1), run(2, 2), run(3, 3),
                        copy(in, 0, 3), run(4, 4)}));
}

TEST(Validate, AnOpMustRunInItsPlace) {
  Checked p = swapped();
  expect_rule(p.check({run(0, 0), copy(out, 0, 1), run(2, 1), copy(release, 0, 1), run(1, 2), run(3, 3),
                       copy(in, 0, 3), run(4, 4)}),
              Rule::op_order, 2, -1);
}

TEST(Validate, ACommandCannotWaitForWhatComesLater) {
  Checked p = swapped();
  expect_rule(p.check({run(0, 0), copy(out, 0, 2), run(1, 1), copy(release, 0, 2), run(2, 2), run(3, 3),
                       copy(in, 0, 3), run(4, 4)}),
              Rule::op_order, kNoOp, -1);
}

TEST(Validate, EveryGapHasItsCommands) {
  Checked p = swapped();
  expect_rule(
      p.check({run(0, 0), copy(out, 0, 1), run(1, 1), copy(release, 0, 1), run(2, 2), run(3, 3), run(4, 4)}),
      Rule::command_count, 0, 0);
}

TEST(Validate, ACopyOutWaitsForTheLastWrite) {
  Checked p = swapped();
  expect_rule(p.check({run(0, 0), copy(out, 0, 0), run(1, 1), copy(release, 0, 1), run(2, 2), run(3, 3),
                       copy(in, 0, 3), run(4, 4)}),
              Rule::content_final, 0, 0);
}

TEST(Validate, AReleaseFollowsItsCopyOut) {
  Checked p = swapped();
  expect_rule(p.check({run(0, 0), copy(release, 0, 1), copy(out, 0, 1), run(1, 1), run(2, 2), run(3, 3),
                       copy(in, 0, 3), run(4, 4)}),
              Rule::release_order, 0, 0);
}

TEST(Validate, ACopyInFollowsItsRelease) {
  Checked p = swapped();
  expect_rule(p.check({run(0, 0), copy(out, 0, 1), run(1, 1), run(2, 2), run(3, 3), copy(in, 0, 3),
                       copy(release, 0, 3), run(4, 4)},
                      40),
              Rule::return_order, 4, 0);
}

TEST(Validate, ACopyInWaitsForItsPosition) {
  Checked p = swapped();
  // in_from is 3: op 2, item 2, must have ended.
  expect_rule(p.check({run(0, 0), copy(out, 0, 1), run(1, 1), copy(release, 0, 1), run(2, 2), copy(in, 0, 2),
                       run(3, 3), run(4, 4)}),
              Rule::return_order, 4, 0);
}

TEST(Validate, AnOpNeedsItsBlocks) {
  Checked p = swapped();
  const auto violation = p.check({run(0, 0), copy(out, 0, 1), run(1, 1), copy(release, 0, 1), run(2, 2),
                                  run(3, 3), run(4, 4), copy(in, 0, 5)});
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->op, 4);
  EXPECT_EQ(violation->block, 0);
}

TEST(Validate, TheItemThatMayStillRunCounts) {
  // The copy-in waits for op 1 only; were its position 2, b's 20 bytes would still be there.
  Checked p = swapped();
  p.plan[0].in_from = 3;
  const std::vector<Command> late = {run(0, 0), copy(out, 0, 1), run(1, 1), copy(release, 0, 1),
                                     run(2, 2), copy(in, 0, 3),  run(3, 3), run(4, 4)};
  EXPECT_FALSE(p.check(late, 20));  // op 2 has ended, b is gone
}

TEST(Validate, TheLimitHolds) {
  Checked p = swapped();
  // Released too late for op 2.
  expect_rule(p.check({run(0, 0), copy(out, 0, 1), run(1, 1), run(2, 2), copy(release, 0, 2), run(3, 3),
                       copy(in, 0, 3), run(4, 4)}),
              Rule::over_limit, 2, -1);
}

TEST(Validate, CopiesKeepTheOrderOfTheLink) {
  Checked p({op({writes(0), writes(1), writes(2)}), op({}), op({reads(0), reads(1), reads(2)})},
            {local(1, 0, 2), local(1, 0, 2), local(1, 0, 2)});
  for (BlockId b : {0, 1, 2}) p.plan[p.gaps.find(b, 0)] = swap_it();
  const GapId a = p.gaps.find(0, 0), b = p.gaps.find(1, 0), c = p.gaps.find(2, 0);
  expect_rule(p.check({run(0, 0), copy(out, a, 1), copy(out, c, 1), copy(out, b, 1), run(1, 1),
                       copy(release, a, 1), copy(release, b, 1), copy(release, c, 1), copy(in, a, 1),
                       copy(in, b, 1), copy(in, c, 1), run(2, 2)}),
              Rule::link_order, 0, 1);
}

// b = f(a), a dies at op 1, b is recomputed for op 3 through a.
Checked recomputed() {
  Checked p({op({writes(0)}), op({reads(0), writes(1)}), op({}), op({reads(1)})},
            {local(10, 0, 1), local(5, 1, 3)});
  p.plan[p.gaps.find(1, 1)] = recompute_it();
  return p;
}

TEST(Validate, AReplayMakesWhatWasDropped) {
  Checked p = recomputed();
  const GapId g = p.gaps.find(1, 1);
  EXPECT_FALSE(
      p.check({run(0, 0), run(1, 1), copy(drop, g, 2), run(2, 2), replay(0, 3), replay(1, 4), run(3, 5)}));
  expect_rule(p.check({run(0, 0), run(1, 1), copy(drop, g, 2), run(2, 2), run(3, 3)}), Rule::replay_missing,
              3, 1);
}

TEST(Validate, AReplayReadsOnlyWhatIsThere) {
  Checked p = recomputed();
  const GapId g = p.gaps.find(1, 1);
  expect_rule(p.check({run(0, 0), run(1, 1), copy(drop, g, 2), run(2, 2), replay(1, 3), run(3, 4)}),
              Rule::operand_absent, 1, 0);
}

TEST(Validate, AReplayKeepsProgramOrder) {
  Checked p = recomputed();
  const GapId g = p.gaps.find(1, 1);
  expect_rule(
      p.check({run(0, 0), run(1, 1), copy(drop, g, 2), run(2, 2), replay(1, 3), replay(0, 4), run(3, 5)}),
      Rule::operand_absent, 1, 0);
}

TEST(Validate, ABlockIsDroppedOnlyAfterItsLastUse) {
  Checked p = recomputed();
  const GapId g = p.gaps.find(1, 1);
  expect_rule(
      p.check({run(0, 0), run(1, 1), copy(drop, g, 1), run(2, 2), replay(0, 3), replay(1, 4), run(3, 5)}),
      Rule::drop_illegal, 1, 1);
}

TEST(Validate, ADirectiveMustFitItsGap) {
  Checked p = swapped();
  LoweredPlan lowered = p.lower(20);
  EXPECT_TRUE(validate(p.program, p.gaps, lowered).empty());
  for (auto spoil : std::vector<void (*)(LoweredPlan&)>{
           [](LoweredPlan& l) { l.swaps[0].clean = true; }, [](LoweredPlan& l) { l.swaps[0].out_after = -1; },
           [](LoweredPlan& l) { l.swaps[0].in_from = 0; }, [](LoweredPlan& l) { l.swaps[0].needed_at = 5; },
           [](LoweredPlan& l) { l.outs.clear(); }, [](LoweredPlan& l) { l.ins.push_back(0); },
           [](LoweredPlan& l) { l.plan[0].action = Action::keep; }}) {
    LoweredPlan broken = lowered;
    spoil(broken);
    const auto violations = validate(p.program, p.gaps, broken);
    ASSERT_FALSE(violations.empty());
    EXPECT_EQ(violations.front().rule, Rule::directive);
  }
}

TEST(Validate, AWrappingSwapIsJudgedAcrossTheBoundary) {
  // w (10) is updated by op 1 and away from then on; it returns at the start of the next iteration or before
  // its end.
  Checked p({op({}), op({updates(0)}), op({}), op({})}, {persistent(10)});
  p.plan[0] = swap_it();
  EXPECT_FALSE(p.check(
      {copy(in, 0, 0), run(0, 0), run(1, 1), copy(out, 0, 2), run(2, 2), copy(release, 0, 2), run(3, 3)}));
  EXPECT_FALSE(p.check(
      {run(0, 0), run(1, 1), copy(out, 0, 2), run(2, 2), copy(release, 0, 2), copy(in, 0, 2), run(3, 3)}));
  // Not back when op 1 runs.
  EXPECT_TRUE(p.check(
      {run(0, 0), run(1, 1), copy(in, 0, 1), copy(out, 0, 2), run(2, 2), copy(release, 0, 2), run(3, 3)}));
}

}  // namespace
}  // namespace ebb
