#include "planners/mixed/feature_maps.h"

#include <gtest/gtest.h>

#include "planners/mixed/steps.h"

namespace ebb {
namespace {

TEST(FeatureMaps, AreWhatForwardMadeAndBackwardReads) {
  const Program program = two_layers();
  const Gaps gaps(program);
  const std::vector<FeatureMap> maps = find_feature_maps(program, gaps);
  ASSERT_EQ(maps.size(), 2u);  // blocks 3 and 4 are never idle, block 0 was there before
  EXPECT_EQ(maps[0].block, 1);
  EXPECT_EQ(maps[0].maker, 0);
  EXPECT_EQ(maps[0].remaking, 100);
  EXPECT_EQ(maps[1].block, 2);
  EXPECT_EQ(maps[1].bytes, 60);
  EXPECT_EQ(maps[1].maker, 1);
  EXPECT_TRUE(maps[1].remakable);
  EXPECT_EQ(maps[1].remaking, 10);
}

}  // namespace
}  // namespace ebb
