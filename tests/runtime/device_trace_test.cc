#include <gtest/gtest.h>

#include <cstdio>

#include "runtime/device_fixture.h"
#include "runtime/trace_summary.h"
#include "trace/error.h"
#include "trace/trace.h"

namespace ebb::testing {
namespace {

TEST(DeviceTrace, HasTheProgramAndNotWhatTheDeviceDidForIt) {
  const std::string path = ::testing::TempDir() + "ebb_device_trace_test.trace";
  SmallDevice d({.limit = 8 * kKiB, .allow_recompute = true});
  const Handle a = d.input(4 * kKiB, 1);
  const Handle b = d.increment(a, 4 * kKiB);
  const Handle c = d.increment(a, 4 * kKiB);
  EXPECT_EQ(d.value(b, 4 * kKiB), 2);
  d.increment_in_place(c, 4 * kKiB);
  d.device.free(b);
  EXPECT_GT(d.device.statistics().replays, 0);
  d.device.write_trace(path);
  const TraceSummary summary = summarize_trace_file(path);
  EXPECT_EQ(summary.mallocs, 3);
  EXPECT_EQ(summary.frees, 1);
  EXPECT_EQ(summary.ops, (std::vector<std::string>{"increment", "increment", "increment_"}));
  EXPECT_GT(summary.duration, 0);
  std::remove(path.c_str());
}

TEST(DeviceTrace, IsEmptyWhereNoEventsAreWanted) {
  SmallDevice d({.limit = 8 * kKiB, .trace_events = 0});
  const Handle a = d.input(4 * kKiB, 1);
  const Handle b = d.increment(a, 4 * kKiB);
  EXPECT_EQ(d.value(b, 4 * kKiB), 2);
  EXPECT_TRUE(d.device.trace().events.empty());
}

TEST(DeviceTrace, IsWhatPlansAreMadeFrom) {
  EXPECT_THROW(SmallDevice({.limit = 8 * kKiB, .mode = Mode::planned, .trace_events = 0}), InputError);
}

}  // namespace
}  // namespace ebb::testing
