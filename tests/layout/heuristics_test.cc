#include "layout/heuristics.h"

#include <gtest/gtest.h>

#include "layout/random_problems.h"
#include "layout/validate.h"

namespace ebb::layout {
namespace {

TEST(Heuristics, AllEightGiveValidLayouts) {
  std::mt19937_64 random(61);
  for (int n = 0; n < soak(100); ++n) {
    const Problem problem = random_problem(random, {.buffers = 40, .horizon = 90, .cyclic = n % 2 == 0});
    for (const Order order : kOrders) {
      for (const Fit fit : kFits) {
        const auto violations = validate(problem, pack_greedily(problem, order, fit));
        ASSERT_TRUE(violations.empty()) << violations.front().message;
      }
    }
  }
}

// [SP] fig. 4: holes of 4 (lower) and 2 (upper) are left when the last variable, of size 2, comes.
struct SmartPoolTest : testing::Test {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 4, .size = 8},
                                    {.id = 1, .begin = 0, .end = 2, .size = 7},
                                    {.id = 2, .begin = 0, .end = 4, .size = 6},
                                    {.id = 3, .begin = 0, .end = 2, .size = 5},
                                    {.id = 4, .begin = 0, .end = 4, .size = 4},
                                    {.id = 5, .begin = 2, .end = 4, .size = 3}}};
};

TEST_F(SmartPoolTest, PlacesLargestFirstInTheFirstHoleThatFits) {
  EXPECT_EQ(pack_smartpool(problem, Fit::kFirst, 1).offsets, (std::vector<Bytes>{0, 8, 15, 21, 26, 8}));
}

TEST_F(SmartPoolTest, PlacesLargestFirstInTheSmallestHoleThatFits) {
  EXPECT_EQ(pack_smartpool(problem, Fit::kBest, 1).offsets, (std::vector<Bytes>{0, 8, 15, 21, 26, 21}));
}

TEST(Heuristics, AnEmptyProblemFits) { EXPECT_TRUE(pack_smartpool({}).fits); }

}  // namespace
}  // namespace ebb::layout
