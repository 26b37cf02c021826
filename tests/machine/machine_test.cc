#include "machine/machine.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

TEST(Machine, ACopyTakesLatencyAndRoundsUp) {
  const Machine machine{
      .bandwidth_out = 3'000'000'000, .bandwidth_in = 1'000'000'000, .latency_out = 10, .latency_in = 5};
  EXPECT_EQ(machine.copy_out_time(0), 10);
  EXPECT_EQ(machine.copy_out_time(1), 11);
  EXPECT_EQ(machine.copy_out_time(3), 11);
  EXPECT_EQ(machine.copy_out_time(4), 12);
  EXPECT_EQ(machine.copy_in_time(7), 12);
}

TEST(Machine, LargeCopiesDoNotOverflow) {
  const Machine machine{.bandwidth_out = 1, .bandwidth_in = 999'999'999'999};
  EXPECT_EQ(machine.copy_out_time(4'000'000'000), 4'000'000'000'000'000'000);
  EXPECT_EQ(machine.copy_in_time(1LL << 60), 1'152'921'504'608'000);
}

TEST(Machine, OpTimesAreScaledByFactorAndByName) {
  Machine machine{.compute_scale = 2};
  machine.op_scale["conv"] = 1.5;
  EXPECT_EQ(machine.op_time({.name = "conv", .duration = 100, .accesses = {}, .births = {}}), 300);
  EXPECT_EQ(machine.op_time({.name = "add", .duration = 100, .accesses = {}, .births = {}}), 200);
}

TEST(Machine, CopiesAreStretchedOnlyByACapBelowTheSum) {
  Machine machine{.bandwidth_out = 50, .bandwidth_in = 50};
  EXPECT_EQ(machine.copy_stretch(), 1'000'000);
  machine.bandwidth_both = 200;
  EXPECT_EQ(machine.copy_stretch(), 1'000'000);
  machine.bandwidth_both = 80;
  EXPECT_EQ(machine.copy_stretch(), 1'250'000);
}

}  // namespace
}  // namespace ebb
