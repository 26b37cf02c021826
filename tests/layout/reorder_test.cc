#include "layout/reorder.h"

#include <gtest/gtest.h>

namespace ebb::layout {
namespace {

// In input order the third item finds no room below 4; placed first, everything fits.
const Instance kNarrow{.sections = 2,
                       .items = {{.first = 0, .count = 1, .size = 1, .source = 0},
                                 {.first = 1, .count = 1, .size = 2, .source = 1},
                                 {.first = 0, .count = 2, .size = 2, .source = 2},
                                 {.first = 0, .count = 1, .size = 1, .source = 3}},
                       .base = {0, 0}};
const std::vector<Units> kFree(4, -1);

TEST(Reorder, MovesAHomelessItemForward) {
  SearchBudget budget{.steps = 1'000};
  const std::vector<AddressSpan> spans{{.begin = 0, .end = 4}};
  const std::vector<int> bad_order{0, 3, 1, 2};
  EXPECT_TRUE(pack_by_reordering(kNarrow, kFree, bad_order, Fit::kFirst, spans, 10, budget));
}

TEST(Reorder, GivesUpAfterTheAttemptsOrTheBudget) {
  const std::vector<AddressSpan> too_low{{.begin = 0, .end = 3}};
  SearchBudget budget{.steps = 1'000};
  EXPECT_FALSE(pack_by_reordering(kNarrow, kFree, {0, 1, 2, 3}, Fit::kFirst, too_low, 10, budget));
  SearchBudget spent{.steps = 0};
  EXPECT_FALSE(pack_by_reordering(kNarrow, kFree, {0, 1, 2, 3}, Fit::kFirst, {{0, 100}}, 10, spent));
}

}  // namespace
}  // namespace ebb::layout
