#include "cli/rounds_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ebb::cli {
namespace {

TEST(RoundsTable, NoRoundsNoTable) { EXPECT_EQ(rounds_table({}, 100), ""); }

TEST(RoundsTable, ShowsMeansAndTheBestSoFarInAtMostTenLines) {
  std::vector<SearchRound> rounds;
  for (int i = 0; i < 25; ++i) rounds.push_back({.evaluations = i, .best = 110, .mean = 150, .worst = 150});
  rounds[1].mean = 0;
  const std::string text = rounds_table(rounds, 100);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
  EXPECT_NE(text.find("1-2           1         50.0 %       10.0 %"), std::string::npos) << text;
}

TEST(RoundsTable, ARoundWithoutAPlanHasNoOverhead) {
  const std::vector<SearchRound> rounds = {{}};
  EXPECT_NE(rounds_table(rounds, 100).find("1             1              -            -"), std::string::npos)
      << rounds_table(rounds, 100);
}

}  // namespace
}  // namespace ebb::cli
