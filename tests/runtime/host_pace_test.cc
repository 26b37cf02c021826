#include "runtime/host_pace.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

TEST(HostPace, AHostThatKeepsAheadCostsNothing) {
  HostPace pace;
  EXPECT_EQ(pace.op_issue(), 0);
  for (int op = 0; op < 1000; ++op) pace.add(op % 5 == 0, 40'000, 30'000);
  EXPECT_EQ(pace.op_issue(), 0);
  EXPECT_EQ(pace.replay_issue(), 0);
}

TEST(HostPace, TheMedianOfWhatTheDeviceWaitedFor) {
  HostPace pace;
  for (int op = 0; op < 1000; ++op) {
    const bool dry = op % 2 == 0;
    const Nanoseconds host = !dry ? 900'000 : op % 20 == 0 ? 5'000'000 : 30'000 + op;
    pace.add(dry, host, host / 2);
  }
  EXPECT_GE(pace.op_issue(), 30'000);
  EXPECT_LT(pace.op_issue(), 31'000);
  EXPECT_GE(pace.replay_issue(), 15'000);
  EXPECT_LT(pace.replay_issue(), 15'500);
}

TEST(HostPace, WhatWasLongAgoIsForgotten) {
  HostPace pace;
  for (int op = 0; op < 5000; ++op) pace.add(true, 20'000, 10'000);
  for (int op = 0; op < 2500; ++op) pace.add(true, 60'000, 10'000);
  EXPECT_EQ(pace.op_issue(), 60'000);
  for (int op = 0; op < 20'000; ++op) pace.add(false, 60'000, 10'000);
  EXPECT_EQ(pace.op_issue(), 0);
}

}  // namespace
}  // namespace ebb
