#include "planners/dqn/variables.h"

#include <gtest/gtest.h>

#include <set>

#include "planners/dqn/small_step.h"

namespace ebb::dqn {
namespace {

TEST(DqnVariables, AreTheIdleTimesOverOpsAboveTheLimit) {
  // Six blocks of 150: ops 5 and 6 hold them all; the last has no idle time.
  const ChainProblem chain(6, 5 * 150);
  std::set<BlockId> blocks;
  for (const Variable& variable : chain.variables) {
    EXPECT_EQ(variable.gaps.size(), 1u);
    EXPECT_EQ(variable.out, 150);
    EXPECT_EQ(variable.in, 150);
    blocks.insert(chain.gaps[variable.gaps.front()].block);
  }
  EXPECT_EQ(blocks, (std::set<BlockId>{0, 1, 2, 3, 4}));
}

TEST(DqnVariables, AStepThatFitsHasNone) { EXPECT_TRUE(ChainProblem(6, 6 * 150).variables.empty()); }

TEST(DqnVariables, SmallIdleBlocksThatFollowEachOtherAreDecidedTogether) {
  const ChainProblem single(20, 10 * 150);
  const ChainProblem grouped(20, 10 * 150, {}, {.most = 4});
  EXPECT_LT(grouped.variables.size(), single.variables.size() / 2);
  Bytes single_bytes = 0, grouped_bytes = 0;
  for (const Variable& variable : single.variables) single_bytes += variable.bytes;
  std::set<GapId> seen;
  for (const Variable& variable : grouped.variables) {
    grouped_bytes += variable.bytes;
    for (const GapId g : variable.gaps) {
      EXPECT_TRUE(seen.insert(g).second) << "gap " << g << " is in two variables";
      EXPECT_LE(grouped.gaps[g].from, variable.from);
      EXPECT_GE(grouped.gaps[g].to, variable.to);
    }
  }
  EXPECT_EQ(single_bytes, grouped_bytes);
}

TEST(DqnVariables, AreOnlyWhatMayBeDoneWithThem) {
  const ChainProblem no_recompute(6, 4 * 150, {.allow_recompute = false});
  for (const Variable& variable : no_recompute.variables) EXPECT_FALSE(variable.remakable);
  const ChainProblem no_swap(6, 4 * 150, {.allow_swap = false});
  for (const Variable& variable : no_swap.variables) EXPECT_TRUE(variable.remakable);
}

TEST(DqnVariables, RemakingKnowsTheVariablesItReads) {
  const ChainProblem chain(6, 3 * 150);
  for (std::size_t v = 1; v < chain.variables.size(); ++v) {
    const BlockId block = chain.gaps[chain.variables[v].gaps.front()].block;
    ASSERT_EQ(chain.variables[v].sources.size(), 1u) << "variable " << v;
    const auto source = static_cast<std::size_t>(chain.variables[v].sources.front());
    EXPECT_EQ(chain.gaps[chain.variables[source].gaps.front()].block, block - 1);
    EXPECT_EQ(chain.variables[v].remaking, 100);
  }
}

}  // namespace
}  // namespace ebb::dqn
