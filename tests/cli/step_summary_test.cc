#include "cli/step_summary.h"

#include <gtest/gtest.h>

#include <numeric>

#include "cli/load_plot.h"
#include "cli/run_ebb.h"
#include "cli/small_program.h"
#include "trace/load.h"

namespace ebb::cli {
namespace {

TEST(Summarise, FindsThePeakAndWhatLiesIdleAcrossIt) {
  const Program program = small_program();
  const StepSummary summary = summarise(program, Gaps(program), 10);
  EXPECT_EQ(summary.peak_load, 192 * kMiB);
  EXPECT_EQ(summary.peak_op, 2);
  EXPECT_EQ(summary.largest_need.bytes, 128 * kMiB);
  EXPECT_EQ(summary.persistent_at_peak, 64 * kMiB);
  const IdleSummary& between = summary.idle[static_cast<std::size_t>(GapKind::between)];
  EXPECT_EQ(between.gaps, 1);
  EXPECT_EQ(between.bytes, 64 * kMiB);
  EXPECT_EQ(between.recomputable, 64 * kMiB);
}

TEST(Summarise, SharesOutTimeAndBytesByPhase) {
  const Program program = small_program();
  const StepSummary summary = summarise(program, Gaps(program), 10);
  ASSERT_EQ(summary.phases.size(), 2u);
  EXPECT_EQ(summary.phases[0].name, "forward");
  EXPECT_EQ(summary.phases[0].time, 2'000'000);
  EXPECT_EQ(summary.phases[0].born, 64 * kMiB);
  EXPECT_EQ(summary.phases[1].born, 64 * kMiB);
}

TEST(Summarise, AccountsForEveryByteOfThePeakAndEveryNanosecond) {
  for (const char* name : {"resnet50", "gpt2", "unet", "vgg16"}) {
    const Program program = load_program(bundled(name));
    const StepSummary summary = summarise(program, Gaps(program), 3);
    for (const std::vector<Share>* shares : {&summary.phases, &summary.op_types}) {
      Bytes bytes = summary.persistent_at_peak + program.info().unmanaged;
      Nanoseconds time = 0;
      for (const Share& share : *shares) {
        bytes += share.born + share.workspace;
        time += share.time;
      }
      EXPECT_EQ(bytes, program.peak_demand()) << name;
      EXPECT_EQ(time, program.compute_time()) << name;
    }
    EXPECT_EQ(summary.largest_gaps.size(), 3u);
  }
}

TEST(Summarise, CountsTheIdleTimeOfTheOpsInAGap) {
  const Program program = small_program();
  const StepSummary summary = summarise(program, Gaps(program), 10);
  for (const GapSummary& entry : summary.largest_gaps)
    EXPECT_EQ(entry.idle, (entry.gap.to - entry.gap.from - 1) * 1'000'000);
}

TEST(PlotDemand, IsAsHighAndWideAsAskedFor) {
  const std::string plot = plot_demand(small_program(), 20, 4);
  EXPECT_EQ(std::count(plot.begin(), plot.end(), '\n'), 5);
  EXPECT_NE(plot.find("192.0 MiB |          █████"), std::string::npos) << plot;
}

}  // namespace
}  // namespace ebb::cli
