#include <gtest/gtest.h>

#include "chain_programs.h"
#include "planners/judge.h"

namespace ebb {
namespace {

struct Asked {
  Program program;
  Gaps gaps{program};
  Machine machine = any_machine();
  explicit Asked(Program p) : program(std::move(p)) {}
  JudgedPlan plan(std::string_view planner, Bytes limit, PlannerOptions options = {}) const {
    return plan_and_judge(find_planner(planner), {program, gaps, machine, limit}, options);
  }
  // The least the planner reaches, as it says itself when asked for less.
  Bytes least(std::string_view planner, PlannerOptions options = {}) const {
    const JudgedPlan judged = plan(planner, 150, options);
    return judged.infeasible ? judged.infeasible->needed : 0;
  }
};

// 17 layers: results 0 … 15 are kept over the turn. In B = √(1600 · 100) = 400 a stage makes 500 bytes:
// cuts after 4, 9 and 14 stay, 300 bytes, and a stage has four others.
TEST(Sublinear, KeepsTheCutsAndOneStage) {
  const Asked chain(chain_program(17));
  const Bytes plain = chain.program.peak_demand();
  EXPECT_EQ(plain, 1701);
  const Bytes least = chain.least("sublinear");
  EXPECT_GT(least, 600);
  EXPECT_LT(least, 900);
  const JudgedPlan judged = chain.plan("sublinear", least);
  ASSERT_FALSE(judged.infeasible);
  EXPECT_LE(judged.step.recompute_time, 170);  // at most one forward pass
  EXPECT_EQ(judged.step.peak_demand, least);
  EXPECT_TRUE(judged.violations.empty());
}

TEST(Sublinear, GrowsLikeTheSquareRootAndRecursiveLikeTheLogarithm) {
  const Asked small(chain_program(65)), large(chain_program(1025));  // 16 times the layers
  const double roots =
      static_cast<double>(large.least("sublinear")) / static_cast<double>(small.least("sublinear"));
  EXPECT_NEAR(roots, 4, 0.5);
  // Of every level one result is there at a time: log₂ 1024 − log₂ 64 = 4 more.
  EXPECT_EQ(large.least("recursive") - small.least("recursive"), 400);
}

TEST(Recursive, EveryLevelIsAnotherForwardPass) {
  const Asked chain(chain_program(65));
  const JudgedPlan judged = chain.plan("recursive", chain.least("recursive"));
  ASSERT_FALSE(judged.infeasible);
  EXPECT_GT(judged.step.recompute_time, 2 * 650);
  EXPECT_LT(judged.step.recompute_time, 6 * 650);
  EXPECT_TRUE(judged.violations.empty());
}

TEST(Recursive, MoreResultsPerPieceTakeFewerPassesAndMoreMemory) {
  const Asked chain(chain_program(257));
  const PlannerOptions three{.settings = {{"k", 3}}};
  const Bytes one_least = chain.least("recursive"), three_least = chain.least("recursive", three);
  EXPECT_LT(one_least, three_least);
  EXPECT_GT(chain.plan("recursive", one_least).step.step_time,
            chain.plan("recursive", three_least, three).step.step_time);
}

TEST(Recursive, GoesNoDeeperThanTheLimitAsksFor) {
  const Asked chain(chain_program(65));
  const JudgedPlan half = chain.plan("recursive", chain.program.peak_demand() * 6 / 10);
  ASSERT_FALSE(half.infeasible);
  EXPECT_LE(half.step.recompute_time, 650);
}

TEST(CheckpointSqrt, KeepsEveryRootOfNthPlace) {
  const Asked chain(chain_program(17));
  const Bytes least = chain.least("checkpoint-sqrt");
  // 16 places, cuts after every fourth: three stay, and a stage of three with its last cut, and gradients.
  EXPECT_GT(least, 600);
  EXPECT_LT(least, 900);
}

// One layer of nine takes a hundred times as long: it is kept if there is any room for it.
TEST(SublinearCost, KeepsWhatTakesLong) {
  Program chain = chain_program(17);
  std::vector<Op> ops = chain.ops();
  ops[6].duration = 1000;
  const Asked slow(literal_program(std::move(ops), chain.blocks()));
  const Bytes least = slow.least("sublinear");
  EXPECT_GT(slow.plan("sublinear", least + 100).step.recompute_time, 1000);
  EXPECT_LT(slow.plan("sublinear-cost", least + 100).step.recompute_time, 170);
}

// Layers in turn cost 10 and 1000; the cheap ones are dropped, the others never.
TEST(DropCheap, DropsTheCheapAsFewAsTheLimitAsksFor) {
  Program chain = chain_program(9);
  std::vector<Op> ops = chain.ops();
  for (OpIndex i = 1; i < 9; i += 2) {
    ops[static_cast<std::size_t>(i)].duration = 1000;
    ops[static_cast<std::size_t>(i)].name = "conv";
  }
  const Asked mixed(literal_program(std::move(ops), chain.blocks()));
  EXPECT_EQ(mixed.program.peak_demand(), 901);
  const JudgedPlan one = mixed.plan("drop-cheap", 801);
  ASSERT_FALSE(one.infeasible);
  EXPECT_EQ(one.step.recompute_time, 10);
  for (const double by_type : {0.0, 1.0}) {
    const PlannerOptions options{.settings = {{"by-type", by_type}}};
    const Bytes least = mixed.least("drop-cheap", options);
    const JudgedPlan all = mixed.plan("drop-cheap", least, options);
    ASSERT_FALSE(all.infeasible);
    EXPECT_EQ(all.step.recompute_time, 40);
  }
}

}  // namespace
}  // namespace ebb
