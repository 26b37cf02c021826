#include "runtime/workspace.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

constexpr Bytes k1 = Arena::kAlignment;

Bytes workspace(const std::vector<RecordedMemory>& memory, Handle result) {
  return workspace_of(memory, [&](Handle block) { return block == result; });
}

TEST(Workspace, IsNothingForAnOpThatMallocsItsResultAlone) {
  EXPECT_EQ(workspace({{1, 5 * k1, true}}, 1), 0);
}

TEST(Workspace, IsThePeakOfItsTemporaries) {
  EXPECT_EQ(
      workspace({{1, 5 * k1, true}, {2, 3 * k1, true}, {.block = 2}, {3, 4 * k1, true}, {.block = 3}}, 1),
      4 * k1);
}

// Its peak of all it has malloc'd is 5, no more than its result: the temporaries need their room all the
// same.
TEST(Workspace, CountsTemporariesThatAreGoneWhenTheResultIsBorn) {
  EXPECT_EQ(workspace({{2, 4 * k1, true}, {.block = 2}, {1, 5 * k1, true}}, 1), 4 * k1);
}

TEST(Workspace, CountsTheHolesThatTemporariesLeave) {
  // 2 | 3 3, then 4 does not fit where 2 was.
  EXPECT_EQ(workspace({{2, k1, true}, {3, 2 * k1, true}, {.block = 2}, {4, 2 * k1, true}}, 1), 5 * k1);
  EXPECT_EQ(workspace({{2, 2 * k1, true}, {3, k1, true}, {.block = 2}, {4, k1, true}, {5, k1, true}}, 1),
            3 * k1);
}

TEST(Workspace, RoundsAsTheArenaDoes) { EXPECT_EQ(workspace({{2, 1, true}, {3, 1, true}}, 1), 2 * k1); }

}  // namespace
}  // namespace ebb
