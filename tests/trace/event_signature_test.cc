#include "trace/event_signature.h"

#include <gtest/gtest.h>

#include "trace/recorder.h"

namespace ebb {
namespace {

TEST(EventSignature, LooksAtNamesRolesAndSizesButNotAtIdsAndTimes) {
  testing::Recorder recorder;
  const BlockId a = recorder.malloc(8), b = recorder.malloc(8), c = recorder.malloc(16);
  const std::size_t first = recorder.size();
  recorder.op("x", {a}, {});
  recorder.op("x", {b}, {});
  recorder.op("y", {a}, {});
  recorder.op("x", {}, {a});
  recorder.op("x", {c}, {});
  recorder.op("x", {a}, {}, Phase::update);
  const Trace& trace = recorder.trace();
  const auto all = event_signatures(trace, block_histories(trace, "t"));
  EXPECT_EQ(all[0], all[1]) << "two mallocs of one size";
  EXPECT_NE(all[0], all[2]);
  EXPECT_EQ(all[first], all[first + 1]) << "another block of the same size";
  for (std::size_t i = 2; i < 6; ++i) EXPECT_NE(all[first], all[first + i]) << i;
}

}  // namespace
}  // namespace ebb
