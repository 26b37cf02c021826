#include <gtest/gtest.h>

#include "chain_programs.h"
#include "planners/judge.h"

namespace ebb {
namespace {

using Stays = std::optional<std::vector<OpRange>>;

JudgedPlan judged_by(std::string_view planner, const Program& program, const Gaps& gaps, Bytes limit) {
  const Machine machine = any_machine();
  return plan_and_judge(find_planner(planner), {program, gaps, machine, limit}, {});
}

// Five results of 100 bytes, room for four: the last one does not fit, and the first was used longest ago.
TEST(Dtr, EvictsWhatIsCheapAndStale) {
  const Program program = chain_program(5);
  const Gaps gaps(program);
  for (const char* planner : {"dtr", "dtr-eq", "dtr-local"}) {
    const JudgedPlan judged = judged_by(planner, program, gaps, 401);
    ASSERT_FALSE(judged.infeasible) << planner;
    const Decision& first = judged.lowered.plan[gaps.find(0, 1)];
    EXPECT_EQ(first.action, Action::recompute) << planner;
    EXPECT_EQ(first.stays, (Stays{{{2, 4}}})) << planner;  // there until op 4 asks for its room
    EXPECT_EQ(judged.step.step_time, 100 + 10) << planner;
    EXPECT_TRUE(judged.violations.empty()) << planner;
  }
}

// a is made, b from it; both leave for op 2. Op 3 reads b, for which a is made too and stays; op 4 needs the
// room again; op 5 reads a.
TEST(Dtr, ABlockMayLeaveAndReturnSeveralTimesInOneGap) {
  const Program program =
      literal_program({op({writes(0)}), op({reads(0), writes(1)}), op({writes(2)}), op({reads(1)}),
                       op({writes(3)}), op({reads(0)})},
                      {local(100, 0, 5), local(100, 1, 3), local(300, 2, 2), local(300, 4, 4)});
  const Gaps gaps(program);
  for (const char* planner : {"dtr", "dtr-eq", "dtr-local"}) {
    const JudgedPlan judged = judged_by(planner, program, gaps, 300);
    ASSERT_FALSE(judged.infeasible) << planner;
    EXPECT_EQ(judged.lowered.plan[gaps.find(0, 1)].stays, (Stays{{{3, 4}}})) << planner;
    EXPECT_EQ(judged.step.step_time, 60 + 20 + 10) << planner;
    EXPECT_TRUE(judged.violations.empty()) << planner;
  }
}

// a0 → a1 → a2 in a row, b alone; all are read again at the end. Op 4 takes a0, the stalest. When op 5 comes,
// a1 and a2 are equally stale: by their own cost a1 goes, the first of the two; but a1 would have to be made
// from a0, which is lost, so by the whole cost a2 goes.
TEST(Dtr, TheMeasureDecidesBetweenEquallyStaleResults) {
  const Program program =
      literal_program({op({writes(0)}), op({reads(0), writes(1)}), op({reads(1), writes(2)}), op({writes(3)}),
                       op({writes(4)}), op({writes(5)}), op({reads(0), reads(1), reads(2), reads(3)})},
                      {local(100, 0, 6), local(100, 1, 6), local(100, 2, 6), local(100, 3, 6),
                       local(100, 4, 4), local(200, 5, 5)});
  const Gaps gaps(program);
  auto lost = [&](std::string_view planner) {
    const JudgedPlan judged = judged_by(planner, program, gaps, 400);
    std::vector<BlockId> blocks;
    for (GapId g = 0; g < gaps.count(); ++g)
      if (!judged.infeasible && judged.lowered.plan[g].action == Action::recompute)
        blocks.push_back(gaps[g].block);
    return blocks;
  };
  EXPECT_EQ(lost("dtr-local"), (std::vector<BlockId>{0, 1}));
  EXPECT_EQ(lost("dtr"), (std::vector<BlockId>{0, 2}));
  EXPECT_EQ(lost("dtr-eq"), (std::vector<BlockId>{0, 2}));
}

// Block 0 comes from outside and is freed after op 1: b, made from it, cannot be had again and stays; c is
// made from b.
TEST(Dtr, WhatCannotBeMadeAgainStaysForThoseMadeFromIt) {
  Op input = op({writes(0)});
  input.replayable = false;
  const Program program =
      literal_program({input, op({reads(0), writes(1)}), op({reads(1), writes(2)}), op({writes(3)}),
                       op({reads(2)}), op({reads(1)})},
                      {local(100, 0, 1), local(100, 1, 5), local(100, 2, 4), local(300, 3, 3)});
  const Gaps gaps(program);
  for (const char* planner : {"dtr", "dtr-eq", "dtr-local"}) {
    const JudgedPlan judged = judged_by(planner, program, gaps, 400);
    ASSERT_FALSE(judged.infeasible) << planner;
    EXPECT_EQ(judged.lowered.plan[gaps.find(1, 2)].action, Action::keep) << planner;
    EXPECT_EQ(judged.lowered.plan[gaps.find(2, 2)].action, Action::recompute) << planner;
    EXPECT_EQ(judged.step.step_time, 60 + 10) << planner;
    EXPECT_TRUE(judged.violations.empty()) << planner;
  }
}

TEST(Dtr, NamesTheOpForWhichThereIsNoRoom) {
  const Program program = chain_program(5);
  const Gaps gaps(program);
  const JudgedPlan judged = judged_by("dtr", program, gaps, 150);
  ASSERT_TRUE(judged.infeasible);
  EXPECT_EQ(judged.infeasible->obstacle, Obstacle::too_large);
  EXPECT_EQ(judged.infeasible->op, 1);
  EXPECT_EQ(judged.infeasible->needed, 200);
}

}  // namespace
}  // namespace ebb
