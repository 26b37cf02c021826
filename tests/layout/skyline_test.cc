#include "layout/skyline.h"

#include <gtest/gtest.h>

namespace ebb::layout {
namespace {

// a lies in sections 0-1, b in 1-2, c in 2 alone.
const Instance kStairs{.sections = 3,
                       .items = {{.first = 0, .count = 2, .size = 3, .source = 0},
                                 {.first = 1, .count = 2, .size = 2, .source = 1},
                                 {.first = 2, .count = 1, .size = 4, .source = 2}},
                       .base = {0, 0, 0}};
constexpr int kA = 0, kB = 1, kC = 2;

TEST(Skyline, PlacingAnItemLiftsWhatMeetsItAndTheFloorsThatRestOnThat) {
  Skyline skyline(kStairs, 9);
  ASSERT_TRUE(skyline.reset());
  ASSERT_TRUE(skyline.place(kA));
  EXPECT_EQ(skyline.lowest(kB), 3);
  EXPECT_EQ(skyline.floor(1), 3);
  EXPECT_EQ(skyline.floor(2), 0) << "c can still lie there";
  EXPECT_EQ(skyline.candidates(2), 1);
}

TEST(Skyline, AFloorRisesWithItsLowestItem) {
  Skyline skyline(kStairs, 20);
  ASSERT_TRUE(skyline.reset());
  ASSERT_TRUE(skyline.place(kC));
  ASSERT_TRUE(skyline.place(kA));
  EXPECT_EQ(skyline.lowest(kB), 4);
  EXPECT_EQ(skyline.floor(1), 4) << "above a's end at 3, since only b is left";
}

TEST(Skyline, APlacementThatLeavesTooLittleRoomIsRefused) {
  Skyline skyline(kStairs, 8);
  ASSERT_TRUE(skyline.reset());
  EXPECT_TRUE(skyline.place(kC));
  EXPECT_FALSE(skyline.place(kB)) << "a would have to lie above b and end at 9";
}

TEST(Skyline, UndoRestoresEverything) {
  Skyline skyline(kStairs, 9);
  ASSERT_TRUE(skyline.reset());
  const std::size_t mark = skyline.mark();
  ASSERT_TRUE(skyline.place(kA));
  ASSERT_TRUE(skyline.raise(2, 3));
  skyline.undo_to(mark);
  for (int s = 0; s < 3; ++s) EXPECT_EQ(skyline.floor(s), 0);
  for (const int i : {kA, kB, kC}) {
    EXPECT_EQ(skyline.lowest(i), 0);
    EXPECT_FALSE(skyline.is_placed(i));
  }
  EXPECT_EQ(skyline.crossing(1), 1);
  EXPECT_EQ(skyline.crossing(2), 1);
  EXPECT_EQ(skyline.unplaced(2).size(), 2u);
  EXPECT_EQ(skyline.slack(2), 3);
}

TEST(Skyline, ACeilingBelowTheLoadIsRefusedAtOnce) {
  Skyline skyline(kStairs, 5);
  EXPECT_FALSE(skyline.reset());
}

TEST(Skyline, StartsOnTheBase) {
  Instance raised = kStairs;
  raised.base = {0, 2, 0};
  Skyline skyline(raised, 20);
  ASSERT_TRUE(skyline.reset());
  EXPECT_EQ(skyline.lowest(kA), 2);
  EXPECT_EQ(skyline.floor(0), 2) << "only a is there, and it cannot lie lower";
}

}  // namespace
}  // namespace ebb::layout
