// Threads that use one device beside each other.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "backend/host/host_backend.h"
#include "runtime/workload.h"

namespace ebb::testing {
namespace {

TEST(Threads, MallocFreeAndExecBesideEachOther) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    HostBackend backend;
    const Bytes limit = 96 * kKiB;
    Device device(backend, {.limit = limit,
                            .allow_recompute = seed % 2 == 0,
                            .smallest_managed = 512,
                            .host_slab = 64 * kKiB,
                            .recipe_steps = 100,
                            .trace_events = 300});
    std::atomic<int> wrong = 0;
    const auto work = [&](std::uint64_t thread) {
      // Pins of other threads stand in the way, so a rare OutOfMemory is no failure here; wrong bytes are.
      Workload workload(device, seed * 10 + thread, {.limit = limit / 2, .most_live = 2, .faults = true});
      for (int i = 0; i < 150; ++i) workload.step();
      workload.finish();
      wrong += workload.wrong_reads();
    };
    const auto churn = [&] {
      for (int i = 0; i < 400; ++i) {
        try {
          const Handle block = device.malloc(1 + i % 3000);
          std::memset(device.pin(block, PinFor::writing).data(), i, static_cast<std::size_t>(1 + i % 3000));
          device.free(block);
        } catch (const OutOfMemory&) {
        }
      }
    };
    std::thread first(work, 1), second(work, 2), third(churn);
    first.join();
    second.join();
    third.join();
    EXPECT_EQ(wrong, 0) << "seed " << seed;
    EXPECT_LE(device.statistics().arena_high_water, limit);
    EXPECT_EQ(device.statistics().blocks, 0) << "seed " << seed;
    EXPECT_EQ(device.statistics().arena_in_use, 0);
  }
}

}  // namespace
}  // namespace ebb::testing
