// Random programs × limits × backends: every byte read is that of the unlimited run, the limit holds, nothing
// is left behind. EBB_SOAK=1 runs fifty times as many; EBB_SEED=n runs one case.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "backend/faulty/faulty_backend.h"
#include "backend/host/host_backend.h"
#include "backend/null/null_backend.h"
#include "runtime/case_count.h"
#include "runtime/slow_clock.h"
#include "runtime/workload.h"

namespace ebb::testing {
namespace {

using MakeBackend = std::function<std::unique_ptr<Backend>(std::uint64_t seed)>;

struct Suite {
  MakeBackend backend;
  int cases = 0;
  int steps = 120;
  bool recompute = false;
  WorkloadOptions workload = {};
  Bytes host_limit = 0;
};

DeviceStatistics run_case(const Suite& suite, std::uint64_t seed) {
  const std::unique_ptr<Backend> backend = suite.backend(seed);
  std::mt19937_64 random(seed * 77 + 5);
  DeviceOptions options{.limit = static_cast<Bytes>(8 * kKiB + random() % (72 * kKiB)),
                        .host_limit = suite.host_limit,
                        .allow_recompute = suite.recompute,
                        .smallest_managed = static_cast<Bytes>(random() % 3 * 700),
                        .host_slab = 16 * kKiB,
                        .recipe_steps = 20 + random() % 200,
                        .trace_events = 50 + random() % 1000,
                        .seed = seed};
  Device device(*backend, options);
  WorkloadOptions workload = suite.workload;
  workload.limit = options.limit;
  Workload work(device, seed, workload);
  for (int i = 0; i < suite.steps; ++i) work.step();
  work.finish();
  const DeviceStatistics statistics = device.statistics();
  EXPECT_EQ(work.wrong_reads(), 0) << "seed " << seed;
  EXPECT_EQ(work.unexpected(), 0) << "seed " << seed << ": " << work.last_failure();
  EXPECT_LE(statistics.arena_high_water, options.limit) << "seed " << seed;
  EXPECT_EQ(statistics.blocks, 0) << "seed " << seed;
  EXPECT_EQ(statistics.arena_in_use, 0) << "seed " << seed;
  EXPECT_EQ(statistics.host_in_use, 0) << "seed " << seed;
  return statistics;
}

void add(DeviceStatistics& sum, const DeviceStatistics& one) {
  sum.ops += one.ops;
  sum.evictions += one.evictions;
  sum.clean_evictions += one.clean_evictions;
  sum.drops += one.drops;
  sum.remakes += one.remakes;
  sum.replays += one.replays;
  sum.protected_remakes += one.protected_remakes;
  sum.kept_for_replay += one.kept_for_replay;
  sum.abandoned_ops += one.abandoned_ops;
  sum.compactions += one.compactions;
  sum.copy_retries += one.copy_retries;
}

DeviceStatistics run_suite(Suite suite) {
  DeviceStatistics sum;
  if (const char* seed = std::getenv("EBB_SEED")) return run_case(suite, std::strtoull(seed, nullptr, 10));
  suite.cases = case_count(suite.cases, 50);
  for (int i = 0; i < suite.cases && !::testing::Test::HasFailure(); ++i)
    add(sum, run_case(suite, static_cast<std::uint64_t>(i) + 1));
  std::printf(
      "%d cases: %lld ops, %lld evictions (%lld clean, %lld drops), %lld remakes by %lld replays, %lld "
      "protected, "
      "%lld kept, %lld abandoned, %lld compactions, %lld retries\n",
      suite.cases, static_cast<long long>(sum.ops), static_cast<long long>(sum.evictions),
      static_cast<long long>(sum.clean_evictions), static_cast<long long>(sum.drops),
      static_cast<long long>(sum.remakes), static_cast<long long>(sum.replays),
      static_cast<long long>(sum.protected_remakes), static_cast<long long>(sum.kept_for_replay),
      static_cast<long long>(sum.abandoned_ops), static_cast<long long>(sum.compactions),
      static_cast<long long>(sum.copy_retries));
  return sum;
}

std::unique_ptr<Backend> null_backend(std::uint64_t) { return std::make_unique<NullBackend>(); }
std::unique_ptr<Backend> slow_seeming_null(std::uint64_t) {
  return std::make_unique<SlowClock>(std::make_unique<NullBackend>(), 1'000'000);
}
std::unique_ptr<Backend> host_backend(std::uint64_t) { return std::make_unique<HostBackend>(); }
std::unique_ptr<Backend> slow_seeming_host(std::uint64_t) {
  return std::make_unique<SlowClock>(std::make_unique<HostBackend>(), 1'000'000);
}
std::unique_ptr<Backend> linked_host(std::uint64_t seed) {
  return std::make_unique<HostBackend>(
      HostOptions{.link = {.bytes_per_second_out = 200'000'000,
                           .bytes_per_second_in = 300'000'000,
                           .bytes_per_second_both = seed % 2 ? 350'000'000 : 0,
                           .latency_out = 2'000,
                           .latency_in = 1'000}});
}

TEST(RandomWorkload, SwappingKeepsEveryByteOnTheNullBackend) {
  const DeviceStatistics sum = run_suite({.backend = null_backend, .cases = 600});
  EXPECT_GT(sum.evictions, 0);
  EXPECT_GT(sum.clean_evictions, 0);
  EXPECT_GT(sum.abandoned_ops, 0);
  EXPECT_GT(sum.compactions, 0);
}

TEST(RandomWorkload, RecomputingKeepsEveryByteOnTheNullBackend) {
  const DeviceStatistics sum = run_suite({.backend = slow_seeming_null, .cases = 600, .recompute = true});
  EXPECT_GT(sum.drops, 0);
  EXPECT_GT(sum.replays, 0);
  EXPECT_GT(sum.protected_remakes, 0);
  EXPECT_GT(sum.kept_for_replay, 0);
}

TEST(RandomWorkload, SwappingKeepsEveryByteOnTheHostBackend) {
  run_suite({.backend = host_backend, .cases = 300});
}

TEST(RandomWorkload, RecomputingKeepsEveryByteOnTheHostBackend) {
  const DeviceStatistics sum = run_suite({.backend = slow_seeming_host, .cases = 300, .recompute = true});
  EXPECT_GT(sum.drops, 0);
}

TEST(RandomWorkload, AnEmulatedLinkChangesNoByte) {
  run_suite({.backend = linked_host, .cases = 40, .recompute = true});
}

TEST(RandomWorkload, ChainsWithoutPinsAndThrowsAreRecomputedToo) {
  run_suite({.backend = slow_seeming_null,
             .cases = 300,
             .steps = 300,
             .recompute = true,
             .workload = {.most_live = 6, .pins = false, .throwing_ops = false}});
}

TEST(RandomWorkload, FailingCopiesCorruptNothing) {
  const auto failing = [](std::uint64_t seed) -> std::unique_ptr<Backend> {
    std::unique_ptr<Backend> inner = slow_seeming_host(seed);
    if (seed % 2) inner = std::make_unique<NullBackend>();
    return std::make_unique<FailingCopies>(std::move(inner), FaultPattern{.probability = 0.2, .seed = seed});
  };
  const DeviceStatistics sum =
      run_suite({.backend = failing, .cases = 300, .recompute = true, .workload = {.faults = true}});
  EXPECT_GT(sum.copy_retries, 0);
}

TEST(RandomWorkload, AFullHostCorruptsNothing) {
  for (const bool recompute : {false, true})
    run_suite({.backend = recompute ? slow_seeming_null : null_backend,
               .cases = 200,
               .recompute = recompute,
               .workload = {.faults = true},
               .host_limit = 24 * kKiB});
}

}  // namespace
}  // namespace ebb::testing
