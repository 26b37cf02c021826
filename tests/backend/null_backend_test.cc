#include "backend/null/null_backend.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

TEST(NullBackend, CountsCallsAndBytesPerEngine) {
  NullBackend backend;
  std::byte* device = backend.reserve(4096);
  std::byte* host = backend.host_slab(512);
  backend.host_slab(256);
  backend.copy(Engine::in, device, host, 100);
  backend.copy(Engine::in, device, host, 50);
  backend.copy(Engine::out, host, device, 7);
  const Event event = backend.record(Engine::in, Stamp::time);
  backend.wait(Engine::compute, event);
  backend.synchronize(event);
  EXPECT_TRUE(backend.happened(event));
  const BackendCounts expected = {.reserved = 4096,
                                  .host_bytes = 768,
                                  .slabs = 2,
                                  .copies = {0, 1, 2},
                                  .copied = {0, 7, 150},
                                  .records = {0, 0, 1},
                                  .waits = {1, 0, 0},
                                  .queries = 1,
                                  .synchronizes = 1};
  EXPECT_EQ(backend.counts(), expected);
}

TEST(NullBackend, HasCopiedWhenCopyReturns) {
  NullBackend backend;
  std::byte* device = backend.reserve(64);
  std::byte* host = backend.host_slab(64);
  host[3] = std::byte{42};
  backend.copy(Engine::in, device, host, 64);
  EXPECT_EQ(device[3], std::byte{42});
}

TEST(NullBackend, ElapsedCountsEvents) {
  NullBackend backend;
  const Event first = backend.record(Engine::in, Stamp::time);
  backend.record(Engine::out, Stamp::time);
  const Event last = backend.record(Engine::compute, Stamp::time);
  EXPECT_EQ(backend.elapsed(first, last), 2);
}

}  // namespace
}  // namespace ebb
