#include "backend/measure.h"

#include <gtest/gtest.h>

#include "backend/host/host_backend.h"

namespace ebb {
namespace {

constexpr MeasureOptions kSmall{.copy = 256 * kKiB, .copies = 4, .small_copies = 5};

// The emulated link never lets a copy be faster than it says.
TEST(Measure, FindsRatesAndLatenciesNoFasterThanTheLink) {
  HostBackend backend({.link = {.bytes_per_second_out = 200'000'000,
                                .bytes_per_second_in = 100'000'000,
                                .bytes_per_second_both = 150'000'000,
                                .latency_out = 100'000,
                                .latency_in = 200'000}});
  const LinkMeasurement measured = measure_link(backend, kSmall);
  EXPECT_GT(measured.rate_out, 0);
  EXPECT_LE(measured.rate_out, 200'000'000 * 1.001);
  EXPECT_GT(measured.rate_in, 0);
  EXPECT_LE(measured.rate_in, 100'000'000 * 1.001);
  EXPECT_GT(measured.rate_both, 0);
  EXPECT_LE(measured.rate_both, measured.rate_out + measured.rate_in);
  EXPECT_GE(measured.latency_out, 0);
  EXPECT_GE(measured.latency_in, 0);
}

TEST(Measure, NeverFindsThatCopiesMakeComputeFaster) {
  HostBackend backend;
  const LinkMeasurement measured = measure_link(backend, kSmall);
  EXPECT_GE(measured.stretch_out, 1);
  EXPECT_GE(measured.stretch_in, 1);
  EXPECT_GE(measured.stretch_both, std::max(measured.stretch_out, measured.stretch_in));
  EXPECT_GT(measured.memory_rate, 0);
  EXPECT_GT(measured.pin_seconds_per_gib, 0);
}

}  // namespace
}  // namespace ebb
