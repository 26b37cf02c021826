// Room is found wherever it is: next to each other or not, with host memory or without.
#include <gtest/gtest.h>

#include "runtime/device_fixture.h"

namespace ebb::testing {
namespace {

constexpr Bytes kUnit = 4 * kKiB;

// A device of six units whose host takes next to nothing.
class FullHost : public ::testing::Test {
 protected:
  Handle numbered(Bytes units, int first) {
    const Handle block = d.device.malloc(units * kUnit);
    const Pin pin = d.device.pin(block, PinFor::writing);
    for (Bytes i = 0; i < units * kUnit; ++i) pin.data()[i] = number(first, i);
    return block;
  }
  bool is_numbered(Handle block, Bytes units, int first) {
    const Pin pin = d.device.pin(block, PinFor::reading);
    for (Bytes i = 0; i < units * kUnit; ++i)
      if (pin.data()[i] != number(first, i)) return false;
    return true;
  }
  static std::byte number(int first, Bytes i) { return static_cast<std::byte>(first + i / 512); }

  SmallDevice d{{.limit = 6 * kUnit, .host_limit = 512}};
};

//  | a | b | c | d |     |   →   | b | d |          |
TEST_F(FullHost, BlocksBetweenHolesMoveTogether) {
  const Handle a = numbered(1, 1), b = numbered(1, 2), c = numbered(1, 3), e = numbered(1, 4);
  d.device.free(a);
  d.device.free(c);
  const Handle large = d.input(4 * kUnit, 9);
  EXPECT_EQ(d.value(large, 4 * kUnit), 9);
  EXPECT_TRUE(is_numbered(b, 1, 2));
  EXPECT_TRUE(is_numbered(e, 1, 4));
}

//  | a |       b       |     |   →   |       b       |         |
TEST_F(FullHost, ABlockSlidesIntoAHoleThatIsSmaller) {
  const Handle a = numbered(1, 1), b = numbered(3, 2);
  d.device.free(a);
  const Handle large = d.input(3 * kUnit, 9);
  EXPECT_EQ(d.value(large, 3 * kUnit), 9);
  EXPECT_TRUE(is_numbered(b, 3, 2));
  EXPECT_EQ(d.device.statistics().bytes_out, 0);
}

TEST_F(FullHost, WhatIsPinnedStaysWhereItIs) {
  const Handle a = numbered(2, 1), b = numbered(1, 2);
  d.device.free(a);
  const Pin pin = d.device.pin(b, PinFor::reading);
  EXPECT_THROW(d.device.malloc(4 * kUnit), OutOfMemory);
  EXPECT_EQ(pin.data()[0], number(2, 0));
  EXPECT_TRUE(is_numbered(b, 1, 2));
  const Handle large = d.input(3 * kUnit, 9);
  EXPECT_EQ(d.value(large, 3 * kUnit), 9);
}

//  | a | b | c |           |   →   | c | b |  made    |   while b is in use, c makes room for what is made
//  from it
TEST_F(FullHost, AnOpFindsRoomBesideItsOperands) {
  const Handle a = numbered(1, 1), b = numbered(1, 2), c = numbered(1, 3);
  d.device.free(a);
  Handle made = 0;
  d.device.exec({.name = "four"}, {&b, 1}, {}, [&](ExecContext& context) {
    made = context.malloc(4 * kUnit);
    std::memset(context.data(made), 7, 4 * kUnit);
  });
  EXPECT_EQ(d.value(made, 4 * kUnit), 7);
  EXPECT_TRUE(is_numbered(b, 1, 2));
  EXPECT_TRUE(is_numbered(c, 1, 3));
}

//  |   a   |   b   |  c  |   full, and b idle longest: what rests must not take its place and cut the arena
//  in two
//  | a  a |P| b  b  -  - - |P| -  - |   →   | a  a |P| (room) |P| b  b |
TEST(PinnedBlocks, OperandsAreSpreadAroundThem) {
  SmallDevice d{{.limit = 20 * kUnit}};
  const auto units = [&](Bytes n, int value) { return d.input(n * kUnit, value); };
  const Handle a = units(5, 1), first = units(1, 2), wide = units(8, 3), second = units(1, 4),
               last = units(5, 5);
  const Pin pins[] = {d.device.pin(first, PinFor::reading), d.device.pin(second, PinFor::reading)};
  d.device.free(wide);
  const Handle b = units(5, 6);
  d.device.free(last);
  Handle made = 0;
  const Handle reads[] = {a, b};
  d.device.exec({.name = "wide"}, reads, {}, [&](ExecContext& c) {
    made = c.malloc(8 * kUnit);
    std::memset(c.data(made), 7, 8 * kUnit);
    EXPECT_EQ(c.data(a)[0], std::byte{1});
    EXPECT_EQ(c.data(b)[0], std::byte{6});
  });
  EXPECT_EQ(d.value(a, 5 * kUnit), 1);
  EXPECT_EQ(d.value(b, 5 * kUnit), 6);
  EXPECT_EQ(d.value(made, 8 * kUnit), 7);
  EXPECT_LE(d.device.statistics().arena_high_water, 20 * kUnit);
}

TEST(RestingBlocks, LieAtTheHighEnd) {
  SmallDevice d({.limit = 64 * kKiB, .small_rest = 100}, 2 * kKiB);
  const Handle a = d.input(24 * kKiB, 1), b = d.input(24 * kKiB, 2), c = d.input(16 * kKiB, 3);
  for (int i = 0; i < 4; ++i) {
    d.increment_in_place(a, 24 * kKiB);
    d.increment_in_place(c, 16 * kKiB);
  }
  const Handle small = d.input(512, 4);
  const Handle large = d.input(48 * kKiB, 5);
  EXPECT_TRUE(d.is(small, BlockState::resident));
  EXPECT_EQ(d.value(large, 48 * kKiB), 5);
  EXPECT_EQ(d.value(small, 512), 4);
  EXPECT_EQ(d.value(a, 24 * kKiB), 5);
  EXPECT_EQ(d.value(b, 24 * kKiB), 2);
  EXPECT_EQ(d.value(c, 16 * kKiB), 7);
}

// Twice as many small blocks as their zone has places for, in an arena that is full otherwise.
TEST(RestingBlocks, MakeRoomForEachOtherAllOverTheirZone) {
  constexpr int kPlaces = 512;
  SmallDevice d({.limit = 4 * kMiB, .small_rest = 2}, 2 * kKiB);
  std::vector<Handle> large, small;
  for (int i = 0; i < 20; ++i) large.push_back(d.input(256 * kKiB, i));
  for (int i = 0; i < 2 * kPlaces; ++i) {
    small.push_back(d.input(512, i % 50));
    d.increment_in_place(small.back(), 512);
  }
  int still_there = 0;
  for (std::size_t i = 0; i < kPlaces; ++i) still_there += d.is(small[i], BlockState::resident);
  EXPECT_LT(still_there, kPlaces / 4) << "the same ones leave again and again";
  for (std::size_t i = 0; i < small.size(); ++i)
    EXPECT_EQ(d.value(small[i], 512), static_cast<int>(i) % 50 + 1) << i;
  for (std::size_t i = 0; i < large.size(); ++i)
    EXPECT_EQ(d.value(large[i], 256 * kKiB), static_cast<int>(i)) << i;
}

// Every second place of a quarter of the arena has a small block that an op used just now.
//  |               |-s-s-s-s|   →   |ssss|    made    |
class SpreadResting : public ::testing::Test {
 protected:
  static constexpr std::int64_t kRest = 100;
  static constexpr Bytes kMade = 52 * kKiB;

  void spread() {
    for (int i = 0; i < 32; ++i) small.push_back(d.input(512, i));
    for (int i = 0; i < 16; ++i) {
      d.device.free(small[static_cast<std::size_t>(i)]);
      small.erase(small.begin() + i);
    }
  }
  void ops(std::int64_t count) {
    const Handle other = d.input(4 * kKiB, 0);
    for (std::int64_t i = 0; i < count; ++i) d.increment_in_place(other, 4 * kKiB);
    d.device.free(other);
  }
  void use() { d.device.exec({.name = "use"}, small, {}, [](ExecContext&) {}); }
  Handle make(Bytes bytes) {
    Handle made = 0;
    d.device.exec({.name = "make"}, {}, {}, [&](ExecContext& context) {
      made = context.malloc(bytes);
      std::memset(context.data(made), 7, static_cast<std::size_t>(bytes));
    });
    return made;
  }
  void expect_all_as_they_were() {
    for (std::size_t i = 0; i < small.size(); ++i)
      EXPECT_EQ(d.value(small[i], 512), static_cast<int>(2 * i) + 1) << i;
  }

  SmallDevice d{{.limit = 64 * kKiB, .small_rest = kRest}, 2 * kKiB};
  std::vector<Handle> small;
};

TEST_F(SpreadResting, MoveTogetherIfTheyAreOld) {
  spread();
  ops(2 * kRest);
  use();
  EXPECT_EQ(d.value(make(kMade), kMade), 7);
  for (const Handle block : small) EXPECT_TRUE(d.is(block, BlockState::resident));
  expect_all_as_they_were();
}

TEST_F(SpreadResting, StayWhereTheyAreIfTheyWereBornJustNow) {
  ops(2 * kRest);
  spread();
  use();
  std::vector<const std::byte*> lay;
  for (const Handle block : small) lay.push_back(d.device.pin(block, PinFor::reading).data());
  EXPECT_THROW(make(kMade), OutOfMemory);
  for (std::size_t i = 0; i < small.size(); ++i)
    EXPECT_EQ(d.device.pin(small[i], PinFor::reading).data(), lay[i]) << i;
  expect_all_as_they_were();
}

// |        pinned|   made, but for a KiB|
TEST(OutOfMemory, SaysHowMuchIsLacking) {
  for (const Bytes lacking : {kKiB, Bytes{0}}) {
    SmallDevice d({.limit = 16 * kKiB - lacking});
    const Handle a = d.input(8 * kKiB, 1);
    const auto make = [&] {
      d.device.exec({.name = "make"}, {&a, 1}, {}, [](ExecContext& c) { c.malloc(8 * kKiB); });
    };
    try {
      make();
      EXPECT_EQ(lacking, 0);
    } catch (const OutOfMemory& error) {
      EXPECT_GT(lacking, 0);
      EXPECT_EQ(error.lacking(), lacking);
    }
  }
}

TEST(OutOfMemory, SaysHowMuchIsLackingForOperands) {
  SmallDevice d({.limit = 16 * kKiB});
  const Handle a = d.input(12 * kKiB, 1), b = d.input(12 * kKiB, 2);
  const Handle reads[] = {a, b};
  try {
    d.device.exec({.name = "both"}, reads, {}, [](ExecContext&) {});
    FAIL() << "24 KiB are there at once in 16";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.lacking(), 8 * kKiB);
  }
}

}  // namespace
}  // namespace ebb::testing
