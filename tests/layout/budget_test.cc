#include "layout/budget.h"

#include <gtest/gtest.h>

namespace ebb::layout {
namespace {

TEST(SearchBudget, IsSpentWithoutStepsOrAfterTheDeadline) {
  EXPECT_FALSE(SearchBudget::start(1, {}).is_spent());
  EXPECT_TRUE(SearchBudget::start(0, {}).is_spent());
  EXPECT_TRUE(SearchBudget::start(1, 0.0).is_spent());
  EXPECT_FALSE(SearchBudget::start(1, 1000.0).is_spent());
}

TEST(SearchBudget, TakesBackWhatALoanDidNotUse) {
  SearchBudget budget{.steps = 100};
  const int answer = budget.lend(30, [](SearchBudget& share) {
    EXPECT_EQ(share.steps, 30);
    share.steps -= 10;
    return 42;
  });
  EXPECT_EQ(answer, 42);
  EXPECT_EQ(budget.steps, 90);
}

TEST(SearchBudget, LendsNoMoreThanItHas) {
  SearchBudget budget{.steps = 5};
  budget.lend(30, [](SearchBudget& share) {
    EXPECT_EQ(share.steps, 5);
    share.steps = -1;
    return 0;
  });
  EXPECT_EQ(budget.steps, 0);
}

}  // namespace
}  // namespace ebb::layout
