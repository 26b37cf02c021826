#include "backend/faulty/faulty_backend.h"

#include <gtest/gtest.h>

#include <vector>

#include "backend/host/host_backend.h"
#include "backend/null/null_backend.h"

namespace ebb {
namespace {

// Numbers, counted from 1, of the copies in that fail.
std::vector<int> failures(const FaultPattern& pattern, int copies) {
  FailingCopies backend(std::make_unique<NullBackend>(), pattern);
  std::byte* device = backend.reserve(64);
  std::byte* host = backend.host_slab(64);
  std::vector<int> failed;
  for (int i = 1; i <= copies; ++i) try {
      backend.copy(Engine::in, device, host, 64);
    } catch (const BackendError&) {
      failed.push_back(i);
    }
  EXPECT_EQ(backend.failed(), static_cast<std::int64_t>(failed.size()));
  return failed;
}

TEST(FailingCopies, TheNthFailsAndTheOthersDoNot) {
  EXPECT_EQ(failures({.nth = 3}, 10), std::vector<int>{3});
  EXPECT_EQ(failures({}, 10), std::vector<int>{});
}

TEST(FailingCopies, RandomFailuresDependOnTheSeedAlone) {
  const auto failed = failures({.probability = 0.25, .seed = 7}, 1000);
  EXPECT_EQ(failures({.probability = 0.25, .seed = 7}, 1000), failed);
  EXPECT_NE(failures({.probability = 0.25, .seed = 8}, 1000), failed);
  EXPECT_GT(failed.size(), 150u);
  EXPECT_LT(failed.size(), 350u);
}

TEST(FailingCopies, AFailedCopyMovesNothingAndSaysWhichItWas) {
  FailingCopies backend(std::make_unique<NullBackend>(), {.nth = 1});
  std::byte* device = backend.reserve(64);
  std::byte* host = backend.host_slab(64);
  device[0] = std::byte{1};
  host[0] = std::byte{2};
  try {
    backend.copy(Engine::in, device, host, 64);
    FAIL() << "no error";
  } catch (const BackendError& error) {
    EXPECT_STREQ(error.what(), "injected fault: copy number 1, of 64 bytes on in, failed");
  }
  EXPECT_EQ(device[0], std::byte{1});
  backend.copy(Engine::in, device, host, 64);
  EXPECT_EQ(device[0], std::byte{2});
}

TEST(FailingCopies, CopiesWithinTheDeviceAreSpared) {
  FailingCopies backend(std::make_unique<NullBackend>(), {.probability = 1});
  std::byte* device = backend.reserve(64);
  backend.copy(Engine::compute, device, device + 32, 32);
  EXPECT_THROW(backend.copy(Engine::out, backend.host_slab(32), device, 32), BackendError);
}

TEST(ScarceHostMemory, RunsOutAtItsExactSize) {
  ScarceHostMemory backend(std::make_unique<NullBackend>(), 1000);
  backend.host_slab(600);
  try {
    backend.host_slab(401);
    FAIL() << "no error";
  } catch (const BackendError& error) {
    EXPECT_STREQ(error.what(), "injected fault: host slab of 401 bytes: 600 of 1000 bytes are given out");
  }
  backend.host_slab(400);
  EXPECT_THROW(backend.host_slab(1), BackendError);
}

TEST(SlowCopies, TakeTheLinkSeveralTimesAndLeaveTheSameBytes) {
  const LinkOptions link = {.latency_in = 2'000'000};
  SlowCopies backend(std::make_unique<HostBackend>(HostOptions{.link = link}), {.times = 4});
  std::byte* device = backend.reserve(64);
  std::byte* host = backend.host_slab(64);
  host[0] = std::byte{9};
  const Event before = backend.record(Engine::in, Stamp::time);
  backend.copy(Engine::in, device, host, 64);
  const Event after = backend.record(Engine::in, Stamp::time);
  backend.synchronize(after);
  EXPECT_EQ(device[0], std::byte{9});
  EXPECT_GE(backend.elapsed(before, after), 8'000'000);
  EXPECT_EQ(backend.slowed(), 1);
}

}  // namespace
}  // namespace ebb
