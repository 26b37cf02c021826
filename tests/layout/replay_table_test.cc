#include "layout/replay_table.h"

#include <gtest/gtest.h>

#include "trace/error.h"

namespace ebb::layout {
namespace {

const std::vector<PlannedMalloc> kMallocs{{2, 1, 1536}, {0, 0, 512}, {2, 0, 0}};

TEST(ReplayTable, FindsTheKthMallocOfAnOp) {
  const ReplayTable table(4, kMallocs);
  EXPECT_EQ(table.offset(0, 0), 512);
  EXPECT_EQ(table.offset(2, 0), 0);
  EXPECT_EQ(table.offset(2, 1), 1536);
  EXPECT_EQ(table.ops(), 4);
  EXPECT_EQ(table.mallocs(), 3u);
}

TEST(ReplayTable, AMallocThatWasNotPlannedIsSaidToBe) {
  const ReplayTable table(4, kMallocs);
  EXPECT_EQ(table.offset(0, 1), kUnplanned);
  EXPECT_EQ(table.offset(1, 0), kUnplanned);
  EXPECT_EQ(table.offset(3, 0), kUnplanned);
  EXPECT_EQ(table.offset(4, 0), kUnplanned);
  EXPECT_EQ(table.offset(-1, 0), kUnplanned);
  EXPECT_EQ(ReplayTable().offset(0, 0), kUnplanned);
}

TEST(ReplayTable, AGapOrADuplicateIsAnError) {
  EXPECT_THROW(ReplayTable(4, {{1, 1, 0}}), InputError);
  EXPECT_THROW(ReplayTable(4, {{1, 0, 0}, {1, 0, 512}}), InputError);
  EXPECT_THROW(ReplayTable(1, {{1, 0, 0}}), InputError);
  EXPECT_THROW(ReplayTable(1, {{-1, 0, 0}}), InputError);
}

TEST(ReplayCursor, WalksTheMallocsOfEachOpInTurn) {
  const ReplayTable table(4, kMallocs);
  ReplayCursor cursor(table);
  EXPECT_EQ(cursor.next_malloc(), kUnplanned) << "before the first op";
  cursor.begin_op(2);
  EXPECT_EQ(cursor.next_malloc(), 0);
  EXPECT_EQ(cursor.next_malloc(), 1536);
  EXPECT_EQ(cursor.next_malloc(), kUnplanned);
  cursor.begin_op(0);
  EXPECT_EQ(cursor.next_malloc(), 512);
}

}  // namespace
}  // namespace ebb::layout
