#include "report/perfetto.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/small_program.h"
#include "machine/presets.h"
#include "planners/judge.h"

namespace ebb::report {
namespace {

TEST(Perfetto, HasOneEventPerSpanStallAndLoadPointOfEachTrack) {
  const Program program = cli::small_program();
  const Gaps gaps(program);
  Plan plan = Plan::keep_all(gaps);
  plan[gaps.find(1, 1)].action = Action::swap;
  const JudgedPlan judged = judge({program, gaps, find_preset("h200"), 128 * kMiB}, plan);
  ASSERT_FALSE(judged.infeasible) << judged.infeasible->sentence(program);
  const auto json = nlohmann::json::parse(encode_perfetto({{"predicted", judged.timeline}}, program, gaps));
  std::size_t spans = 0, counters = 0;
  double latest = 0;
  for (const auto& event : json["traceEvents"]) {
    spans += event["ph"] == "X";
    counters += event["ph"] == "C";
    if (event["ph"] == "X" && event["tid"] == 0) {
      EXPECT_GE(event["ts"].get<double>(), latest);
      latest = event["ts"].get<double>() + event["dur"].get<double>();
    }
  }
  EXPECT_EQ(spans, judged.timeline.spans.size() + judged.timeline.stalls.size());
  EXPECT_EQ(counters, judged.timeline.load.size());
  EXPECT_GE(spans, 6u);  // four ops, a copy out and one in
}

TEST(Perfetto, PutsTracksBesideEachOther) {
  const Program program = cli::small_program();
  const Gaps gaps(program);
  const Timeline predicted{
      .spans = {{.lane = Lane::compute, .op = 0, .start = 0, .end = 5}}, .stalls = {}, .load = {}};
  const Timeline measured{.spans = {{.lane = Lane::compute, .op = 0, .start = 1, .end = 7},
                                    {.lane = Lane::in, .gap = -1, .start = 2, .end = 3}},
                          .stalls = {},
                          .load = {}};
  const auto json = nlohmann::json::parse(
      encode_perfetto({{"predicted", predicted}, {"measured", measured}}, program, gaps));
  std::map<int, int> spans;
  for (const auto& event : json["traceEvents"])
    if (event["ph"] == "X") ++spans[event["pid"].get<int>()];
  EXPECT_EQ(spans, (std::map<int, int>{{1, 1}, {2, 2}}));
}

}  // namespace
}  // namespace ebb::report
