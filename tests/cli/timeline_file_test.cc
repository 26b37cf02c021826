#include "cli/timeline_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/small_program.h"
#include "machine/presets.h"
#include "planners/judge.h"

namespace ebb::cli {
namespace {

TEST(EncodeTimeline, HasOneEventPerSpanStallAndLoadPoint) {
  const Program program = small_program();
  const Gaps gaps(program);
  Plan plan = Plan::keep_all(gaps);
  plan[gaps.find(1, 1)].action = Action::swap;
  const JudgedPlan judged = judge({program, gaps, find_preset("h200"), 128 * kMiB}, plan);
  ASSERT_FALSE(judged.infeasible) << judged.infeasible->sentence(program);
  const auto json = nlohmann::json::parse(encode_timeline(judged.timeline, program, gaps));
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

}  // namespace
}  // namespace ebb::cli
