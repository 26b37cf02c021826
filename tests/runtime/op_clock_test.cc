#include "runtime/op_clock.h"

#include <gtest/gtest.h>

#include "backend/forwarding_backend.h"
#include "runtime/virtual_backend.h"

namespace ebb::testing {
namespace {

// Between two events lies a microsecond, whatever else does.
class WithCostlyEvents final : public ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;
  Nanoseconds elapsed(Event from, Event to) override { return inner().elapsed(from, to) + 1'000; }
};

class OpClockTest : public ::testing::Test {
 protected:
  // Ops of 50 us on the device, timed.
  std::vector<OpSpan> run(int ops) {
    std::vector<OpSpan> spans;
    for (int i = 0; i < ops; ++i) {
      const Event start = clock.start();
      ran_out += clock.had_run_out();
      device.work(50'000);
      pager.compute_advanced();
      spans.push_back(clock.end(start));
    }
    return spans;
  }
  Nanoseconds time_of(const OpSpan& span) { return span.op_time(backend); }

  int ran_out = 0;
  VirtualBackend* made = nullptr;
  WithCostlyEvents backend{[this] {
    auto inner = std::make_unique<VirtualBackend>(
        Machine{.bandwidth_out = 50'000'000'000, .bandwidth_in = 50'000'000'000}, false);
    made = inner.get();
    return inner;
  }()};
  VirtualBackend& device = *made;
  BlockTable table;
  RecipeBook recipes{table, {}};
  DeviceStatistics statistics;
  Pager pager{backend, {.limit = 64 * kMiB, .host = {.slab_bytes = 64 * kMiB}}, recipes, statistics};
  OpClock clock{backend, pager, {.keeps_host_ahead = true, .bandwidth = 50'000'000'000}};
};

TEST_F(OpClockTest, OfOpsThatALateHostIssuesOnlyTheDevicesTimeIsSeen) {
  device.set_host({.op = 80'000, .copy = 5'000, .event = 2'000, .queue = 400});
  const std::vector<OpSpan> spans = run(2'000);
  EXPECT_LE(time_of(spans.front()), 51'000) << "what events take is not known yet";
  int long_ones = 0;
  for (std::size_t i = 200; i < spans.size(); ++i) long_ones += time_of(spans[i]) != 50'000;
  EXPECT_EQ(long_ones, 0) << "without the host's part, and without that of the events";
  EXPECT_GT(ran_out, 5);
  // Whoever issues an op every 84 us is not made slower by a device that waits now and then.
  EXPECT_LT(device.host_now(), 2'000 * 86'000);
  EXPECT_EQ(pager.host().in_use(), 0);
}

TEST_F(OpClockTest, AHostThatIsAheadIsLeftInPeace) {
  device.set_host({.op = 10'000, .event = 1'000, .queue = 400});
  run(300);
  EXPECT_EQ(ran_out, 1) << "at first, so that no queue is full";
  for (const OpSpan& span : run(1'000)) EXPECT_EQ(time_of(span), 50'000);
  EXPECT_EQ(ran_out, 1);
}

TEST_F(OpClockTest, OpsBeforeThatWereNotTimedFillNoQueue) {
  device.set_host({.op = 1'000, .queue = 2'000});
  for (int i = 0; i < 2'000; ++i) device.work(50'000);
  clock.skip();
  const Nanoseconds before = device.host_now();
  clock.end(clock.start());
  EXPECT_GE(device.host_now() - before, 1'900 * 50'000) << "the host waits for them";
}

TEST_F(OpClockTest, AProgramThatWaitsForEachOfItsOpsIsNotHeldAtEach) {
  device.set_host({.op = 20'000, .queue = 400});
  for (int i = 0; i < 200; ++i) {
    run(1);
    backend.synchronize(backend.record(Engine::compute));
  }
  EXPECT_EQ(ran_out, 200);
  EXPECT_LT(device.host_now(), 25 * 5'000'000);
}

TEST_F(OpClockTest, OpsThatAreTimedAsTheyComeAreNotHeld) {
  device.set_host({.op = 80'000, .event = 2'000, .queue = 400});
  for (int i = 0; i < 50; ++i) {
    const Event start = clock.start(false);
    EXPECT_FALSE(clock.kept_ahead());
    device.work(50'000);
    pager.compute_advanced();
    EXPECT_GT(time_of(clock.end(start)), 80'000) << "the host's time is in it";
  }
  EXPECT_EQ(pager.host().reserved(), 0);
  run(1);
  EXPECT_TRUE(clock.kept_ahead());
  EXPECT_GT(pager.host().reserved(), 0);
}

TEST_F(OpClockTest, WhatAProgramDoesBetweenOpsIsNoneOfTheirsIfTheHostIsNotKeptAhead) {
  OpClock plain{backend, pager, {}};
  Nanoseconds longest = 0;
  for (int i = 0; i < 20; ++i) {
    const Event start = plain.start();
    device.work(50'000);
    pager.compute_advanced();
    longest = std::max(longest, time_of(plain.end(start)));
    device.work(1'000'000);  // by somebody else
  }
  EXPECT_EQ(longest, 51'000);
}

TEST_F(OpClockTest, TheHostIsNotSoFarAheadThatAQueueIsFull) {
  device.set_host({.op = 1'000, .queue = 20'000});
  run(4'000);
  EXPECT_GT(device.host_now(), (4'000 - 300) * 50'000);
}

TEST_F(OpClockTest, AHostThatHasWaitedForTheDeviceIsSeen) {
  device.set_host({.op = 1'000, .queue = 20'000});
  run(100);
  const int before = ran_out;
  run(20);
  EXPECT_EQ(ran_out, before);
  backend.synchronize(backend.record(Engine::compute));
  run(1);
  EXPECT_EQ(ran_out, before + 1);
}

TEST_F(OpClockTest, WithoutHostMemoryOpsAreTimedAsWellAsItGoes) {
  VirtualBackend bare(Machine{.bandwidth_out = 1, .bandwidth_in = 1}, false);
  Pager scarce_pager{bare, {.limit = kMiB, .host = {.limit = kKiB}}, recipes, statistics};
  OpClock scarce{bare, scarce_pager, {.keeps_host_ahead = true}};
  bare.set_host({.op = 80'000, .event = 2'000});
  for (int i = 0; i < 100; ++i) {
    const Event start = scarce.start();
    bare.work(50'000);
    scarce_pager.compute_advanced();
    EXPECT_EQ(scarce.end(start).op_time(bare), 80'000 + 50'000 + 2'000);
  }
}

}  // namespace
}  // namespace ebb::testing
