#include "plan/recipes.h"

#include <gtest/gtest.h>

#include "random_programs.h"

namespace ebb {
namespace {

TEST(Recipes, WhatCanBeMadeAgainIsKnownWithoutWritingItDown) {
  int remakable = 0, not_remakable = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const Program program = random_program(random);
    const Gaps gaps(program);
    const std::vector<Recipe> recipes = find_recipes(program, gaps);
    const std::vector<char> found = find_remakable(program, gaps);
    for (GapId g = 0; g < gaps.count(); ++g) {
      const auto at = static_cast<std::size_t>(g);
      EXPECT_EQ(found[at] != 0, recipes[at].remakable) << "seed " << seed << ", gap " << g;
      ++(recipes[at].remakable ? remakable : not_remakable);
    }
  }
  EXPECT_GT(remakable, 100);
  EXPECT_GT(not_remakable, 100);
}

}  // namespace
}  // namespace ebb
