#include "layout/components.h"

#include <gtest/gtest.h>

namespace ebb::layout {
namespace {

TEST(Components, WhatLivesAlwaysGoesToTheBottom) {
  const Components components = take_apart({.sections = 2,
                                            .items = {{.first = 0, .count = 1, .size = 4, .source = 0},
                                                      {.first = 0, .count = 2, .size = 3, .source = 1},
                                                      {.first = 0, .count = 2, .size = 5, .source = 2}},
                                            .base = {1, 1}});
  ASSERT_EQ(components.settled.size(), 3u);
  EXPECT_EQ(components.settled[0].offset, 1);
  EXPECT_EQ(components.settled[1].offset, 4);
  EXPECT_EQ(components.settled[2].source, 0) << "alone in its section once the others are gone";
  EXPECT_EQ(components.settled[2].offset, 9);
}

TEST(Components, AreCutWhereNothingCrosses) {
  const Components components = take_apart({.sections = 5,
                                            .items = {{.first = 0, .count = 2, .size = 1, .source = 0},
                                                      {.first = 1, .count = 2, .size = 1, .source = 1},
                                                      {.first = 3, .count = 1, .size = 1, .source = 2},
                                                      {.first = 3, .count = 2, .size = 1, .source = 3}},
                                            .base = {0, 0, 0, 0, 0}});
  ASSERT_EQ(components.parts.size(), 1u) << "the second part is settled";
  EXPECT_EQ(components.parts[0].sections, 3);
  EXPECT_EQ(components.settled.size(), 2u);
}

TEST(Components, ARingIsCutOnceAndUnrolled) {
  const Components components = take_apart({.sections = 4,
                                            .items = {{.first = 3, .count = 2, .size = 1, .source = 0},
                                                      {.first = 0, .count = 2, .size = 1, .source = 1},
                                                      {.first = 2, .count = 1, .size = 1, .source = 2}},
                                            .base = {0, 0, 0, 0}});
  ASSERT_EQ(components.parts.size(), 1u);
  EXPECT_EQ(components.parts[0].sections, 3);
  EXPECT_EQ(components.parts[0].items[0].first, 0);
  EXPECT_EQ(components.parts[0].items[1].first, 1);
}

TEST(Components, AnUnevenBaseKeepsFullWidthItemsInTheSearch) {
  const Components components = take_apart(
      {.sections = 2, .items = {{.first = 0, .count = 2, .size = 3, .source = 0}}, .base = {0, 1}});
  EXPECT_TRUE(components.settled.empty());
  ASSERT_EQ(components.parts.size(), 1u);
}

}  // namespace
}  // namespace ebb::layout
