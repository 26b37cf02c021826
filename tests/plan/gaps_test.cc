#include "plan/gaps.h"

#include <gtest/gtest.h>

#include "literal_programs.h"

namespace ebb {
namespace {

std::vector<Gap> gaps_of(const Program& program, BlockId block) {
  const Gaps gaps(program);
  return {gaps.begin() + gaps.first(block), gaps.begin() + gaps.last(block)};
}

TEST(Gaps, LieBetweenAccessesThatHaveAnOpBetweenThem) {
  // a: W at 0, R at 1 (nothing between), R at 4, dies at 5.
  const Program program = literal_program(
      {op({writes(0)}), op({reads(0)}), op({}), op({}), op({reads(0)}), op({})}, {local(8, 0, 5)});
  const auto gaps = gaps_of(program, 0);
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].from, 1);
  EXPECT_EQ(gaps[0].to, 4);
  EXPECT_EQ(gaps[0].kind, GapKind::between);
  EXPECT_EQ(program.version(gaps[0].version).writer, 0);
  EXPECT_EQ(gaps[1].from, 4);
  EXPECT_EQ(gaps[1].to, 6);
  EXPECT_EQ(gaps[1].kind, GapKind::trailing);
}

TEST(Gaps, TheTrailingGapIsThereEvenWithoutAnOpInIt) {
  const Program program = literal_program({op({writes(0)}), op({reads(0)})}, {local(8, 0, 1)});
  const auto gaps = gaps_of(program, 0);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0],
            (Gap{.block = 0, .from = 1, .to = 2, .kind = GapKind::trailing, .version = gaps[0].version}));
}

TEST(Gaps, APersistentBlockHasAWrappingGap) {
  const Program program =
      literal_program({op({}), op({reads(0)}), op({updates(0)}), op({})}, {persistent(8)});
  const auto gaps = gaps_of(program, 0);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].from, 2);
  EXPECT_EQ(gaps[0].to, 5);  // op 1 of the next iteration
  EXPECT_EQ(gaps[0].kind, GapKind::wrapping);
  EXPECT_EQ(program.version(gaps[0].version).writer, 2);
}

TEST(Gaps, AWrappingBlockIsListedFromItsBirth) {
  // Born at 3, read at 1 of the next iteration, freed after 2.
  const Program program = literal_program(
      {op({}), op({reads(0)}), op({}), op({writes(0)}), op({}), op({reads(0)})}, {wrapping(8, 3, 2)});
  const auto gaps = gaps_of(program, 0);
  ASSERT_EQ(gaps.size(), 3u);
  EXPECT_EQ(gaps[0].from, 3);
  EXPECT_EQ(gaps[0].to, 5);
  EXPECT_EQ(gaps[1].from, 5);
  EXPECT_EQ(gaps[1].to, 7);
  EXPECT_EQ(gaps[1].kind, GapKind::wrapping);
  EXPECT_EQ(gaps[2].from, 1);
  EXPECT_EQ(gaps[2].to, 3);
  EXPECT_EQ(gaps[2].kind, GapKind::trailing);
}

TEST(Gaps, ATrailingGapMayCrossTheBoundary) {
  const Program program = literal_program({op({}), op({}), op({writes(0)})}, {wrapping(8, 2, 0)});
  const auto gaps = gaps_of(program, 0);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].from, 2);
  EXPECT_EQ(gaps[0].to, 4);
  EXPECT_EQ(gaps[0].kind, GapKind::trailing);
}

TEST(Gaps, SmallBlocksHaveNone) {
  const Program program = Program::build({.name = "small", .smallest_managed = 9},
                                         {op({writes(0)}), op({}), op({reads(0)})}, {local(8, 0, 2)});
  EXPECT_EQ(Gaps(program).count(), 0);
}

TEST(Gaps, AreFoundByTheAccessBeforeThem) {
  const Program program = literal_program({op({writes(0)}), op({}), op({reads(0)})}, {local(8, 0, 2)});
  const Gaps gaps(program);
  EXPECT_EQ(gaps[gaps.find(0, 0)].to, 2);
  EXPECT_EQ(gaps.find(0, 1), -1);
}

}  // namespace
}  // namespace ebb
