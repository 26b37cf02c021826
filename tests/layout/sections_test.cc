#include "layout/sections.h"

#include <gtest/gtest.h>

#include "layout/random_problems.h"

namespace ebb::layout {
namespace {

bool share_a_section(const Item& a, const Item& b, int sections) {
  for (int k = 0; k < a.count; ++k) {
    for (int l = 0; l < b.count; ++l) {
      if ((a.first + k) % sections == (b.first + l) % sections) return true;
    }
  }
  return false;
}

TEST(Sections, LeaveOutMomentsThatAddNothing) {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 6, .size = 1},
                                    {.id = 1, .begin = 3, .end = 10, .size = 1},
                                    {.id = 2, .begin = 8, .end = 13, .size = 1}}};
  const Instance instance = cut_into_sections(problem, 1, 1);
  EXPECT_EQ(instance.sections, 2);
  EXPECT_EQ(instance.items[0], (Item{.first = 0, .count = 1, .size = 1, .source = 0}));
  EXPECT_EQ(instance.items[1], (Item{.first = 0, .count = 2, .size = 1, .source = 1}));
  EXPECT_EQ(instance.items[2], (Item{.first = 1, .count = 1, .size = 1, .source = 2}));
}

TEST(Sections, MeetExactlyWhereLifetimesMeet) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 500; ++n) {
    const Problem problem = random_problem(random, {.buffers = 8, .horizon = 12, .cyclic = n % 2 == 0});
    const Instance instance = cut_into_sections(problem, 1, 1);
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      ASSERT_GE(instance.items[i].count, 1);
      ASSERT_LE(instance.items[i].count, instance.sections);
      ASSERT_LT(instance.items[i].first, instance.sections);
      for (std::size_t k = 0; k < problem.buffers.size(); ++k) {
        EXPECT_EQ(share_a_section(instance.items[i], instance.items[k], instance.sections),
                  overlap_in_time(problem.buffers[i], problem.buffers[k], problem.period));
      }
    }
  }
}

TEST(Sections, HaveThePeakLoadOfTheProblem) {
  std::mt19937_64 random(2);
  for (int n = 0; n < 200; ++n) {
    const Problem problem = random_problem(random, {.buffers = 12, .cyclic = n % 2 == 0});
    const std::vector<Units> load = load_of(cut_into_sections(problem, 1, 1));
    EXPECT_EQ(*std::max_element(load.begin(), load.end()), peak_load(problem, 1));
  }
}

TEST(Sections, AreOneWhereEverythingLivesAlways) {
  const Problem problem{.buffers = {{.id = 0, .begin = 3, .end = 13, .size = 1}}, .period = 10};
  EXPECT_EQ(cut_into_sections(problem, 1, 1).sections, 1);
}

TEST(UnitOf, DividesRoundedSizesAndFixedOffsets) {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 1, .size = 4000},
                                    {.id = 1, .begin = 0, .end = 1, .size = 2048, .fixed = 6144}}};
  EXPECT_EQ(unit_of(problem, 512), 2048);
  EXPECT_EQ(unit_of({}, 512), 512);
}

TEST(HasLevelBase, SaysWhetherAllSectionsStartAtOneHeight) {
  EXPECT_TRUE(has_level_base({.sections = 2, .items = {}, .base = {3, 3}}));
  EXPECT_FALSE(has_level_base({.sections = 2, .items = {}, .base = {3, 4}}));
}

}  // namespace
}  // namespace ebb::layout
