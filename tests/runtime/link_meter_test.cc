#include "runtime/link_meter.h"

#include <gtest/gtest.h>

#include "literal_programs.h"
#include "runtime/program_runner.h"
#include "runtime/virtual_backend.h"

namespace ebb::testing {
namespace {

constexpr Bytes kRate = 1'000'000'000;  // bytes a second

Machine links(Bytes bandwidth) {
  return {.name = "links", .bandwidth_out = bandwidth, .bandwidth_in = bandwidth};
}

void copy(LinkMeter& meter, VirtualBackend& backend, std::byte* host, std::byte* device, Bytes bytes) {
  const Event start = backend.record(Engine::out, Stamp::time);
  backend.copy(Engine::out, host, device, bytes);
  const Event end = backend.record(Engine::out, Stamp::time);
  backend.wait(Engine::compute, end);
  meter.add(Engine::out, start, end, bytes);
}

TEST(LinkMeterTest, BandwidthIsThatOfLargeCopies) {
  Machine machine = links(kRate);
  machine.latency_out = 1'000'000;  // what small copies take, whatever the link
  VirtualBackend backend(machine, false);
  std::byte* device = backend.reserve(16 * kMiB);
  std::byte* host = backend.host_slab(16 * kMiB);
  LinkMeter meter;
  EXPECT_FALSE(meter.bandwidth(Engine::out));
  copy(meter, backend, host, device, 64 * kKiB);
  meter.update(backend);
  EXPECT_FALSE(meter.bandwidth(Engine::out));
  copy(meter, backend, host, device, 16 * kMiB);
  meter.update(backend);
  ASSERT_TRUE(meter.bandwidth(Engine::out));
  EXPECT_NEAR(static_cast<double>(*meter.bandwidth(Engine::out)), 1e9, 1e8);
  EXPECT_FALSE(meter.bandwidth(Engine::in));
}

TEST(LinkMeterTest, FewBytesSayNothingOfTheLinksSpeed) {
  Machine machine = links(kRate);
  machine.latency_out = 20'000;
  VirtualBackend backend(machine, false);
  std::byte* device = backend.reserve(4 * kMiB);
  std::byte* host = backend.host_slab(4 * kMiB);
  LinkMeter meter;
  for (int i = 0; i < 40; ++i) {
    copy(meter, backend, host, device, 4 * kMiB);
    copy(meter, backend, host, device, 8);
    meter.update(backend);
  }
  EXPECT_NEAR(static_cast<double>(meter.latency(Engine::out)), 20e3, 1e3);
  EXPECT_NEAR(static_cast<double>(meter.estimate(Engine::out, 4 * kMiB)), 4.2143e6, 1e5);
  EXPECT_NEAR(static_cast<double>(meter.estimate(Engine::out, 200 * 1000)), 220e3, 5e3);
}

// Blocks of 2 MiB that do not fit all at once.
Program large_blocks() {
  std::vector<Op> ops;
  std::vector<Block> blocks;
  for (OpIndex i = 0; i < 6; ++i) {
    ops.push_back(op({writes(i)}, 1000));
    blocks.push_back(local(8, i, 11 - i));
  }
  for (OpIndex i = 6; i-- > 0;) ops.push_back(op({reads(i)}, 1000));
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].name = "op" + std::to_string(i);
  return literal_program(std::move(ops), std::move(blocks));
}

Bytes planned_bandwidth(bool shared) {
  VirtualBackend backend(links(kRate));
  Device device(backend, {.limit = 9 * kMiB,
                          .mode = Mode::planned,
                          .host_slab = 16 * kMiB,
                          .machine = links(100 * kRate),
                          .link_is_shared = shared});
  const Program program = large_blocks();
  ProgramRunner runner(device, program, {.unit = 256 * kKiB});
  EXPECT_TRUE(run_until_planned(runner, device, 200));
  return device.followed()->machine.bandwidth_in;
}

TEST(LinkMeterTest, PlansForALinkThatIsSharedTrustTheRunsOwnCopies) {
  EXPECT_EQ(planned_bandwidth(false), 100 * kRate);
  EXPECT_NEAR(static_cast<double>(planned_bandwidth(true)), 1e9, 1e8);
}

}  // namespace
}  // namespace ebb::testing
