#include "backend/host/host_backend.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ebb {
namespace {

constexpr Nanoseconds kLong = 400'000'000;

TEST(HostBackend, ComputeIsTheCallingThread) {
  HostBackend backend;
  std::byte* device = backend.reserve(128);
  std::memset(device, 7, 64);
  backend.copy(Engine::compute, device + 64, device, 64);
  EXPECT_EQ(device[127], std::byte{7});
  EXPECT_TRUE(backend.happened(backend.record(Engine::compute, Stamp::time)));
}

TEST(HostBackend, WaitOnComputeBlocksUntilTheBytesAreThere) {
  HostBackend backend({.link = {.latency_in = 3'000'000}});
  std::byte* device = backend.reserve(64);
  std::byte* host = backend.host_slab(64);
  std::memset(device, 0, 64);
  std::memset(host, 5, 64);
  backend.copy(Engine::in, device, host, 64);
  const Event arrived = backend.record(Engine::in, Stamp::time);
  backend.wait(Engine::compute, arrived);
  EXPECT_TRUE(backend.happened(arrived));
  EXPECT_EQ(device[63], std::byte{5});
}

TEST(HostBackend, ACopyTakesNoLessThanItsLinkTime) {
  HostBackend backend({.link = {.bytes_per_second_out = 1'000'000'000, .latency_out = 1'000'000}});
  std::byte* device = backend.reserve(kMiB);
  std::byte* host = backend.host_slab(kMiB);
  const Event before = backend.record(Engine::out, Stamp::time);
  for (int i = 0; i < 3; ++i) backend.copy(Engine::out, host, device, 1'000'000);
  const Event after = backend.record(Engine::out, Stamp::time);
  backend.synchronize(after);
  EXPECT_GE(backend.elapsed(before, after), 6'000'000);
}

// By the order of events: what was enqueued later on in overtakes the long copy on out.
TEST(HostBackend, TheTwoCopyEnginesRunAtTheSameTime) {
  HostBackend backend({.link = {.latency_out = kLong}});
  std::byte* device = backend.reserve(128);
  std::byte* host = backend.host_slab(128);
  backend.copy(Engine::out, host, device, 64);
  const Event slow = backend.record(Engine::out, Stamp::time);
  backend.copy(Engine::in, device + 64, host + 64, 64);
  const Event quick = backend.record(Engine::in, Stamp::time);
  backend.synchronize(slow);
  backend.synchronize(quick);
  EXPECT_GT(backend.elapsed(quick, slow), 0);
  EXPECT_GT(slow, kHappened);
}

TEST(HostBackend, NothingButComputeWaitsAndSynchronizeBlocksTheCaller) {
  HostBackend backend({.link = {.latency_out = kLong}});
  std::byte* device = backend.reserve(128);
  std::byte* host = backend.host_slab(128);
  backend.copy(Engine::out, host, device, 64);
  const Event slow = backend.record(Engine::out, Stamp::time);
  backend.wait(Engine::in, slow);
  backend.copy(Engine::in, device + 64, host, 64);
  const Event after = backend.record(Engine::in, Stamp::time);
  backend.host_slab(64);
  const Event enqueued = backend.record(Engine::compute, Stamp::time);
  backend.synchronize(after);
  EXPECT_GT(backend.elapsed(enqueued, slow), 0);
  EXPECT_GE(backend.elapsed(slow, after), 0);
}

TEST(HostBackend, AWaitAcrossEnginesHoldsBackWhatFollows) {
  HostBackend backend({.link = {.latency_out = 5'000'000}});
  std::byte* device = backend.reserve(64);
  std::byte* host = backend.host_slab(128);
  std::memset(device, 1, 64);
  std::memset(host + 64, 2, 64);
  backend.copy(Engine::out, host, device, 64);
  const Event left = backend.record(Engine::out, Stamp::time);
  backend.wait(Engine::in, left);
  backend.copy(Engine::in, device, host + 64, 64);
  const Event arrived = backend.record(Engine::in, Stamp::time);
  backend.synchronize(arrived);
  EXPECT_TRUE(backend.happened(left));
  EXPECT_GE(backend.elapsed(left, arrived), 0);
  EXPECT_EQ(host[0], std::byte{1});
  EXPECT_EQ(device[0], std::byte{2});
}

TEST(HostBackend, DestructionWithWaitsAcrossEnginesPendingEnds) {
  std::vector<std::byte> back(64);
  {
    HostBackend backend({.link = {.latency_out = 2'000'000, .latency_in = 1'000'000}});
    std::byte* device = backend.reserve(64);
    std::byte* host = backend.host_slab(64);
    std::memset(host, 3, 64);
    for (int i = 0; i < 5; ++i) {
      backend.copy(Engine::in, device, host, 64);
      backend.wait(Engine::out, backend.record(Engine::in, Stamp::time));
      backend.copy(Engine::out, back.data(), device, 64);
      backend.wait(Engine::in, backend.record(Engine::out, Stamp::time));
    }
  }
  EXPECT_EQ(back[63], std::byte{3});
}

TEST(HostBackend, AnEventThatIsLateDoesNotDisturbTheTimesOfYoungerOnes) {
  HostBackend backend({.link = {.latency_out = 100'000'000}});
  std::byte* device = backend.reserve(64);
  backend.copy(Engine::out, backend.host_slab(64), device, 64);
  const Event late = backend.record(Engine::out, Stamp::time);
  Event a_window_later = kHappened;
  for (std::uint64_t i = 0; i < kElapsedWindow; ++i)
    a_window_later = backend.record(Engine::compute, Stamp::time);
  const Event last = backend.record(Engine::compute, Stamp::time);
  backend.synchronize(late);
  EXPECT_GE(backend.elapsed(a_window_later, last), 0);
  EXPECT_THROW(backend.elapsed(late, last), BackendError);
}

TEST(HostBackend, HostMemoryEndsAtItsExactSize) {
  HostBackend backend({.host_bytes = 1000});
  backend.host_slab(999);
  try {
    backend.host_slab(2);
    FAIL() << "no error";
  } catch (const BackendError& error) {
    EXPECT_STREQ(error.what(), "host slab of 2 bytes: 999 of 1000 bytes of host memory are given out");
  }
  backend.host_slab(1);
}

TEST(HostBackend, MemoryThatCannotBeHadIsAnErrorWithItsSize) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end the program on such a request";
#endif
  HostBackend backend;
  try {
    backend.reserve(Bytes{1} << 60);
    FAIL() << "no error";
  } catch (const BackendError& error) {
    EXPECT_STREQ(error.what(), "device memory of 1152921504606846976 bytes: out of memory");
  }
}

}  // namespace
}  // namespace ebb
