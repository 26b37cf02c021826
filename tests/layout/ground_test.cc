#include "layout/ground.h"

#include <gtest/gtest.h>

namespace ebb::layout {
namespace {

const Instance kTwoSections{.sections = 2,
                            .items = {{.first = 0, .count = 2, .size = 3, .source = 0},
                                      {.first = 1, .count = 1, .size = 2, .source = 1},
                                      {.first = 0, .count = 1, .size = 4, .source = 2}},
                            .base = {0, 0}};

TEST(Ground, AStackOfFixedItemsBecomesTheBase) {
  const auto free = on_fixed_ground(kTwoSections, {0, 3, -1});
  ASSERT_TRUE(free);
  EXPECT_EQ(free->base, (std::vector<Units>{3, 5}));
  EXPECT_EQ(free->items, (std::vector<Item>{kTwoSections.items[2]}));
}

TEST(Ground, AHoleBelowAFixedItemIsNoGround) { EXPECT_FALSE(on_fixed_ground(kTwoSections, {1, -1, -1})); }

TEST(Ground, FixedOffsetsAreInUnits) {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 1, .size = 1, .fixed = 1024},
                                    {.id = 1, .begin = 0, .end = 1, .size = 1}}};
  EXPECT_EQ(fixed_offsets(problem, 512), (std::vector<Units>{2, -1}));
}

TEST(HeightOf, IsTheHighestEnd) { EXPECT_EQ(height_of(kTwoSections, {0, 3, 7}), 11); }

}  // namespace
}  // namespace ebb::layout
