#include "runtime/op_span.h"

#include <gtest/gtest.h>

#include "runtime/virtual_backend.h"

namespace ebb::testing {
namespace {

class OpSpanOf : public ::testing::Test {
 protected:
  // An op of 50 us on a device that has nothing to do, while the host takes 30 to issue it.
  OpSpan dry_op() {
    backend.set_host({.op = 30'000});
    const Event start = backend.record(Engine::compute);
    backend.work(50'000);
    return {start, backend.record(Engine::compute)};
  }
  VirtualBackend backend{Machine{.bandwidth_out = 1, .bandwidth_in = 1}};
};

TEST_F(OpSpanOf, AnOpThatWasWaitedForIsTheDevicesPart) {
  OpSpan span = dry_op();
  EXPECT_EQ(span.device_time(backend), 80'000);
  span.host = 30'000;
  EXPECT_EQ(span.device_time(backend), 50'000);
}

TEST_F(OpSpanOf, NothingTakesNoTimeAtAll) {
  OpSpan span = dry_op();
  span.host = 90'000;  // the function went on after it had issued the op
  EXPECT_EQ(span.device_time(backend), 1'000);
}

}  // namespace
}  // namespace ebb::testing
