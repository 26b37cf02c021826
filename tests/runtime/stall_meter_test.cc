#include "runtime/stall_meter.h"

#include <gtest/gtest.h>

#include "runtime/virtual_backend.h"

namespace ebb {
namespace {

class StallMeterTest : public ::testing::Test {
 protected:
  // A copy in that takes a millisecond.
  Event copy() {
    backend.copy(Engine::in, nullptr, nullptr, 1'000'000);
    return backend.record(Engine::in);
  }
  Nanoseconds waited(StallCause cause) const { return meter.total()[static_cast<std::size_t>(cause)]; }

  testing::VirtualBackend backend{{.bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000}, false};
  StallMeter meter;
};

TEST_F(StallMeterTest, WhatComputeWaitsIsWhatTheCopyTakesBeyondItsWork) {
  const Event copied = copy();
  backend.work(300'000);
  meter.wait(backend, copied, StallCause::copy_in);
  meter.update(backend);
  EXPECT_EQ(waited(StallCause::copy_in), 700'000);
  EXPECT_EQ(waited(StallCause::room), 0);
}

TEST_F(StallMeterTest, TheWaitsThatAreMeasuredCountForTheOthers) {
  constexpr int kWaits = 4000;
  for (int i = 0; i < kWaits; ++i) {
    // As if iterations had eight waits, the first of them long.
    const Event copied = copy();
    backend.work(i % 8 == 0 ? 0 : 900'000);
    meter.wait(backend, copied, StallCause::room, 8);
    meter.update(backend);
  }
  const double expected = kWaits / 8 * (1'000'000.0 + 7 * 100'000.0);
  EXPECT_NEAR(static_cast<double>(waited(StallCause::room)), expected, 0.2 * expected);
}

TEST_F(StallMeterTest, ACopyThatHasEndedKeepsNobodyWaiting) {
  const Event copied = copy();
  backend.work(1'200'000);
  meter.wait(backend, copied, StallCause::room);
  meter.update(backend);
  EXPECT_EQ(waited(StallCause::room), 0);
}

}  // namespace
}  // namespace ebb
