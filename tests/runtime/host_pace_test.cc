#include "runtime/host_pace.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

TEST(HostPace, AHostNobodyTimedCostsNothing) {
  EXPECT_EQ(HostPace().op_issue(), 0);
  EXPECT_EQ(HostPace().replay_issue(), 0);
  EXPECT_EQ(HostPace().follow_issue(), 0);
}

TEST(HostPace, WhatHappensNowAndThenDoesNotCount) {
  HostPace pace;
  for (int op = 0; op < 1000; ++op) {
    const Nanoseconds times = op % 5 == 0 ? 50 : 1;
    pace.add(times * 30'000, times * 10'000, times * 4'000);
  }
  EXPECT_EQ(pace.op_issue(), 30'000);
  EXPECT_EQ(pace.replay_issue(), 10'000);
  EXPECT_EQ(pace.follow_issue(), 4'000);
}

TEST(HostPace, AReplayCostsWhatItWasSeenToTake) {
  HostPace pace;
  for (int op = 0; op < 100; ++op) pace.add(30'000, 10'000, 4'000);
  pace.add_replays(0, 70'000);
  EXPECT_EQ(pace.replay_issue(), 10'000) << "none was seen";
  for (int i = 0; i < 3; ++i) pace.add_replays(5, 20'000);
  pace.add_replays(1, 90'000);
  EXPECT_EQ(pace.replay_issue(), 4'000);
  EXPECT_EQ(pace.op_issue(), 30'000);
  pace.clear();
  EXPECT_EQ(pace.replay_issue(), 0);
}

TEST(HostPace, WhatWasLongAgoIsForgotten) {
  HostPace pace;
  for (int op = 0; op < 5'000; ++op) pace.add(20'000, 10'000, 0);
  EXPECT_EQ(pace.op_issue(), 20'000);
  for (int op = 0; op < 20'000; ++op) pace.add(60'000, 10'000, 0);
  EXPECT_EQ(pace.op_issue(), 60'000);
  pace.clear();
  EXPECT_EQ(pace.op_issue(), 0);
}

}  // namespace
}  // namespace ebb
