#include "report/sparkline.h"

#include <gtest/gtest.h>

#include "cli/small_program.h"

namespace ebb::report {
namespace {

TEST(Sparkline, AFullBarIsTheTop) {
  EXPECT_EQ(sparkline({0, 1, 50, 100, 200}, 100), " ▁▄██");
  EXPECT_EQ(sparkline({}, 100), "");
  EXPECT_EQ(sparkline({5}, 0), "█");
}

TEST(Sparkline, AColumnShowsTheMostInIt) {
  const auto demand = demand_by_column(cli::small_program(), 4);
  EXPECT_EQ(*std::max_element(demand.begin(), demand.end()), 192 * kMiB);
  EXPECT_EQ(demand.front(), 128 * kMiB);
  const Timeline timeline{.spans = {}, .stalls = {}, .load = {{0, 10}, {45, 70}, {46, 20}}};
  EXPECT_EQ(load_by_column(timeline, 100, 4), (std::vector<Bytes>{10, 70, 20, 20}));
}

}  // namespace
}  // namespace ebb::report
