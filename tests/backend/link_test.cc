#include "backend/host/link.h"

#include <gtest/gtest.h>

#include <thread>

#include "backend/host/event_book.h"

namespace ebb {
namespace {

Nanoseconds time_of_copies(Link& link, Engine direction, Bytes bytes, int copies) {
  const Nanoseconds begin = steady_now();
  for (int i = 0; i < copies; ++i) {
    link.start(direction, bytes);
    link.finish(direction);
  }
  return steady_now() - begin;
}

TEST(Link, CopyTimeIsLatencyPlusBytesOverBandwidth) {
  const Link link({.bytes_per_second_out = 1'000'000'000, .latency_out = 10, .latency_in = 20});
  EXPECT_EQ(link.copy_time(Engine::out, 1000), 1010);
  EXPECT_EQ(link.copy_time(Engine::in, 1000), 20);  // no bandwidth: latency alone
  const Link odd({.bytes_per_second_out = 3});
  EXPECT_EQ(odd.copy_time(Engine::out, 1), 333'333'334);  // rounded up
}

TEST(Link, ACopyTakesNoLessThanItsTime) {
  Link link({.bytes_per_second_out = 1'000'000'000, .latency_out = 200'000});
  EXPECT_GE(time_of_copies(link, Engine::out, 100'000, 10), 10 * 300'000);
  EXPECT_GE(time_of_copies(link, Engine::in, 100'000, 10), 0);
}

// The sum of both is at most the cap whatever the threads do: 8 MB at 1 GB/s cannot take less than 8 ms.
TEST(Link, BothDirectionsTogetherKeepTheCap) {
  Link link({.bytes_per_second_out = 1'000'000'000,
             .bytes_per_second_in = 1'000'000'000,
             .bytes_per_second_both = 1'000'000'000});
  const Nanoseconds begin = steady_now();
  std::thread in([&] { time_of_copies(link, Engine::in, 1'000'000, 4); });
  time_of_copies(link, Engine::out, 1'000'000, 4);
  in.join();
  EXPECT_GE(steady_now() - begin, 8'000'000 - 1000);
}

TEST(Link, ACapNeedsBothBandwidths) {
  EXPECT_THROW(Link({.bytes_per_second_out = 5, .bytes_per_second_both = 5}), BackendError);
}

}  // namespace
}  // namespace ebb
