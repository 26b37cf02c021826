// Devices in small: blocks of a few KiB, and ops that fill, copy and add bytes.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "backend/null/null_backend.h"
#include "runtime/device.h"
#include "runtime/slow_clock.h"

namespace ebb::testing {

// Copies seem slow on it, so that what can be computed again is dropped if that is allowed.
class SmallDevice {
 public:
  explicit SmallDevice(DeviceOptions options, Bytes smallest_managed = 512)
      : backend(std::make_unique<NullBackend>(), 1'000'000),
        device(backend, with_small_units(options, smallest_managed)) {}

  // A new block of `bytes` bytes of that value, made outside of the device.
  Handle input(Bytes bytes, int value) {
    const Handle block = device.malloc(bytes);
    const Pin pin = device.pin(block, PinFor::writing);
    std::memset(pin.data(), value, static_cast<std::size_t>(bytes));
    return block;
  }
  // A new block: every byte of `from` plus one.
  Handle increment(Handle from, Bytes bytes, bool replayable = true) {
    const auto made = std::make_shared<Handle>(0);
    device.exec({.name = "increment", .replayable = replayable}, {&from, 1}, {},
                [made, from, bytes](ExecContext& c) {
                  *made = c.malloc(bytes);
                  add_one(c.data(*made), c.data(from), bytes);
                });
    return *made;
  }
  void increment_in_place(Handle block, Bytes bytes) {
    device.exec({.name = "increment_", .replayable = true}, {&block, 1}, {&block, 1},
                [block, bytes](ExecContext& c) { add_one(c.data(block), c.data(block), bytes); });
  }
  // The value of all bytes, or -1 if they differ.
  int value(Handle block, Bytes bytes) {
    const Pin pin = device.pin(block, PinFor::reading);
    for (Bytes i = 1; i < bytes; ++i)
      if (pin.data()[i] != pin.data()[0]) return -1;
    return static_cast<int>(pin.data()[0]);
  }
  bool is(Handle block, BlockState state) const { return device.state(block) == state; }

  SlowClock backend;
  Device device;

 private:
  static void add_one(std::byte* to, const std::byte* from, Bytes bytes) {
    for (Bytes i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(static_cast<int>(from[i]) + 1);
  }
  static DeviceOptions with_small_units(DeviceOptions options, Bytes smallest_managed) {
    options.smallest_managed = smallest_managed;
    options.host_slab = 16 * kKiB;
    return options;
  }
};

}  // namespace ebb::testing
