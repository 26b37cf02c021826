#include "runtime/host_pace.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

TEST(HostPace, AHostThatKeepsAheadCostsReplaysNothing) {
  HostPace pace;
  EXPECT_EQ(pace.shortest_replay(), 0);
  for (int op = 0; op < 1000; ++op) pace.add(op % 5 == 0, 40'000);
  EXPECT_EQ(pace.shortest_replay(), 0);
}

TEST(HostPace, TheMedianOfWhatTheDeviceWaitedFor) {
  HostPace pace;
  for (int op = 0; op < 1000; ++op) {
    const bool dry = op % 2 == 0;
    pace.add(dry, !dry ? 900'000 : op % 20 == 0 ? 5'000'000 : 30'000 + op);
  }
  EXPECT_GE(pace.shortest_replay(), 30'000);
  EXPECT_LT(pace.shortest_replay(), 31'000);
}

TEST(HostPace, WhatWasLongAgoIsForgotten) {
  HostPace pace;
  for (int op = 0; op < 5000; ++op) pace.add(true, 20'000);
  for (int op = 0; op < 2500; ++op) pace.add(true, 60'000);
  EXPECT_EQ(pace.shortest_replay(), 60'000);
  for (int op = 0; op < 20'000; ++op) pace.add(false, 60'000);
  EXPECT_EQ(pace.shortest_replay(), 0);
}

}  // namespace
}  // namespace ebb
