#include "backend/reservation.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

namespace ebb {
namespace {

std::string error_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const BackendError& error) {
    return error.what();
  }
  return "";
}

TEST(Reservation, NamesOffsetAndSizesOfACopyThatLeavesIt) {
  std::array<std::byte, 64> device = {};
  std::array<std::byte, 64> host = {};
  Reservation reservation;
  reservation.set(device.data(), 64);
  EXPECT_EQ(error_of([&] { reservation.check_copy(Engine::out, host.data(), device.data() + 60, 8); }),
            "copy of 8 bytes on out: reads from device offset 60, outside the reservation of 64 bytes");
  EXPECT_EQ(error_of([&] { reservation.check_copy(Engine::compute, device.data() + 4, device.data(), 8); }),
            "copy of 8 bytes on compute: device offset 0 and device offset 4 overlap");
  EXPECT_EQ(error_of([&] { reservation.check_copy(Engine::in, device.data(), host.data(), 64); }), "");
}

TEST(Reservation, RefusesCopiesBeforeThereIsOne) {
  std::array<std::byte, 64> memory = {};
  EXPECT_NE(error_of([&] { Reservation().check_copy(Engine::in, memory.data(), memory.data(), 8); }), "");
}

TEST(Reservation, IsMadeOnce) {
  std::array<std::byte, 64> device = {};
  Reservation reservation;
  EXPECT_EQ(error_of([&] { reservation.require_none(64); }), "");
  EXPECT_EQ(error_of([&] { reservation.require_none(0); }), "reserve of 0 bytes: not a size");
  reservation.set(device.data(), 64);
  EXPECT_EQ(error_of([&] { reservation.require_none(32); }),
            "reserve of 32 bytes: 64 bytes are reserved already, and a backend has one reservation");
}

}  // namespace
}  // namespace ebb
