#include "layout/greedy.h"

#include <gtest/gtest.h>

namespace ebb::layout {
namespace {

const std::vector<AddressSpan> kOpen{{.begin = 0, .end = 1000}};

// Two long items with holes of 4 and 2 units between them, and a short one of 2 units.
struct HolesTest : testing::Test {
  Instance instance{.sections = 1,
                    .items = {{.first = 0, .count = 1, .size = 1, .source = 0},
                              {.first = 0, .count = 1, .size = 1, .source = 1},
                              {.first = 0, .count = 1, .size = 2, .source = 2}},
                    .base = {0}};
  std::vector<Units> fixed{4, 7, -1};  // holes [0, 4), [5, 7) and everything above 8
};

TEST_F(HolesTest, FirstFitTakesTheLowestHole) {
  EXPECT_EQ(place_in_order(instance, fixed, {0, 1, 2}, Fit::kFirst, kOpen).offsets[2], 0);
}

TEST_F(HolesTest, BestFitTakesTheSmallestHole) {
  EXPECT_EQ(place_in_order(instance, fixed, {0, 1, 2}, Fit::kBest, kOpen).offsets[2], 5);
}

TEST_F(HolesTest, WithoutAHoleThatFitsTheTopIsExtended) {
  instance.items[2].size = 5;
  for (const Fit fit : kFits) {
    EXPECT_EQ(place_in_order(instance, fixed, {0, 1, 2}, fit, kOpen).offsets[2], 8);
  }
}

TEST_F(HolesTest, AnItemWithoutRoomIsNamed) {
  instance.items[2].size = 5;
  EXPECT_EQ(place_in_order(instance, fixed, {0, 1, 2}, Fit::kFirst, {{.begin = 0, .end = 12}}).homeless, 2);
}

TEST_F(HolesTest, NoItemLiesAcrossTheEndOfASpan) {
  instance.items[2].size = 3;
  const std::vector<AddressSpan> spans{
      {.begin = 0, .end = 2}, {.begin = 2, .end = 10}, {.begin = 10, .end = 20}};
  EXPECT_EQ(place_in_order(instance, fixed, {0, 1, 2}, Fit::kFirst, spans).offsets[2], 10);
}

TEST(Greedy, ItemsThatNeverMeetShareTheSameAddresses) {
  const Instance instance{.sections = 2,
                          .items = {{.first = 0, .count = 1, .size = 3, .source = 0},
                                    {.first = 1, .count = 1, .size = 5, .source = 1}},
                          .base = {0, 0}};
  const Placement placement = place_in_order(instance, {-1, -1}, {0, 1}, Fit::kBest, kOpen);
  EXPECT_EQ(placement.offsets, (std::vector<Units>{0, 0}));
}

TEST(SortedBy, EachOrderPutsItsLargestFirstAndTiesInInputOrder) {
  const Problem problem{.buffers = {{.id = 0, .begin = 5, .end = 6, .size = 9},
                                    {.id = 1, .begin = 0, .end = 8, .size = 2},
                                    {.id = 2, .begin = 1, .end = 5, .size = 5},
                                    {.id = 3, .begin = 1, .end = 5, .size = 5}}};
  EXPECT_EQ(sorted_by(Order::kSize, problem), (std::vector<int>{0, 2, 3, 1}));
  EXPECT_EQ(sorted_by(Order::kDuration, problem), (std::vector<int>{1, 2, 3, 0}));
  EXPECT_EQ(sorted_by(Order::kArea, problem), (std::vector<int>{2, 3, 1, 0}));
  EXPECT_EQ(sorted_by(Order::kBirth, problem), (std::vector<int>{1, 2, 3, 0}));
}

}  // namespace
}  // namespace ebb::layout
