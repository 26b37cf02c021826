#include "trace/periodic_run.h"

#include <gtest/gtest.h>

#include <random>

namespace ebb {
namespace {

std::vector<std::uint64_t> letters(const std::string& text) { return {text.begin(), text.end()}; }

TEST(PeriodicRun, IsFoundAtTheEndLongestFirst) {
  const auto values = letters("wwabcabcabcab");
  const std::vector<PeriodicRun> expected = {{.begin = 2, .end = 13, .period = 3}};
  EXPECT_EQ(runs_at_end(values, 2, 100), expected);
}

TEST(PeriodicRun, ComesBeforeItsMultiples) {
  const auto runs = runs_at_end(letters("xabababab"), 2, 100);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].period, 2u);
  EXPECT_EQ(runs[1].period, 4u);
}

TEST(PeriodicRun, NeedsItsRepeats) {
  EXPECT_TRUE(runs_at_end(letters("abcabc"), 3, 100).empty());
  EXPECT_TRUE(runs_at_end(letters("abcab"), 2, 100).empty());
  EXPECT_TRUE(runs_at_end({}, 2, 100).empty());
}

TEST(PeriodicRun, ExtendsAsFarAsItGoes) {
  const auto values = letters("ababababcab");
  EXPECT_EQ(extend_right(values, {.begin = 0, .end = 4, .period = 2}).end, 8u);
}

TEST(PeriodicRun, AgreesWithTheDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> values(1 + random() % 30);
    for (auto& value : values) value = random() % 2;
    std::size_t found = 0;
    for (const PeriodicRun& run : runs_at_end(values, 2, 100)) {
      ++found;
      ASSERT_GE(run.length(), 2 * run.period);
      for (std::size_t i = run.begin; i + run.period < run.end; ++i)
        ASSERT_EQ(values[i], values[i + run.period]);
      if (run.begin > 0) {
        ASSERT_NE(values[run.begin - 1], values[run.begin - 1 + run.period]);
      }
    }
    std::size_t expected = 0;
    for (std::size_t period = 1; 2 * period <= values.size(); ++period)
      expected += std::equal(values.end() - static_cast<std::ptrdiff_t>(period), values.end(),
                             values.end() - static_cast<std::ptrdiff_t>(2 * period));
    EXPECT_EQ(found, expected);
  }
}

TEST(OccursInCycle, SeesAcrossTheSeam) {
  const auto cycle = letters("abcd");
  EXPECT_TRUE(occurs_in_cycle(letters("cdab"), cycle));
  EXPECT_TRUE(occurs_in_cycle(letters("dabcdabcda"), cycle));
  EXPECT_FALSE(occurs_in_cycle(letters("acb"), cycle));
  EXPECT_TRUE(occurs_in_cycle({}, cycle));
}

TEST(CoverByCycle, CountsWholeTurnsOnly) {
  const auto cycle = letters("abc");
  const CycleCover cover = cover_by_cycle(letters("xabcabxbcaxcab"), cycle);
  EXPECT_EQ(cover.covered, 5u + 3u + 3u);
  EXPECT_TRUE(cover.reaches_end);
  EXPECT_FALSE(cover_by_cycle(letters("abcx"), cycle).reaches_end);
  EXPECT_EQ(cover_by_cycle(letters("ab"), cycle).covered, 0u);
}

}  // namespace
}  // namespace ebb
