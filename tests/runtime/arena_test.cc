#include "runtime/arena.h"

#include <gtest/gtest.h>

#include <random>

#include "backend/events.h"
#include "backend/null/null_backend.h"
#include "backend/recording/recording_backend.h"

namespace ebb {
namespace {

using Waits = std::vector<Event>;

TEST(Arena, TakesTheSmallestHoleThatFitsAtItsLowEnd) {
  Arena arena(8 * 512);
  Waits waits;
  const Region a = *arena.take(1024, waits);
  const Region b = *arena.take(512, waits);
  const Region c = *arena.take(512, waits);
  arena.give(a, kHappened);
  arena.give(c, kHappened);
  EXPECT_EQ(arena.take(600, waits), a) << "the hole of 1024, not the one at the end";
  EXPECT_EQ(b.offset, 1024);
}

TEST(Arena, RoundsSizesUpAndServesZeroBytes) {
  Arena arena(1024);
  Waits waits;
  EXPECT_EQ(arena.take(0, waits)->bytes, 512);
  EXPECT_EQ(arena.take(1, waits)->bytes, 512);
  EXPECT_FALSE(arena.take(1, waits));
}

TEST(Arena, HandsMemoryOnWithTheEventsThatFreeIt) {
  Arena arena(1024);
  Waits waits;
  const Region a = *arena.take(1024, waits);
  const Event out = make_event(7, Engine::out, Stamp::none), in = make_event(9, Engine::in, Stamp::none),
              later = unrecorded(3);
  const Event events[] = {out, kHappened, make_event(8, Engine::in, Stamp::none), in, later};
  arena.give(a, events);
  ASSERT_TRUE(arena.take(512, waits));
  EXPECT_EQ(waits, (Waits{out, in, later})) << "an engine's last event stands for those before";
  waits.clear();
  ASSERT_TRUE(arena.take(512, waits));
  EXPECT_EQ(waits, (Waits{out, in, later})) << "what was not taken is still pending";
}

TEST(Arena, ATakenPieceIsNoLongerPending) {
  Arena arena(4 * 512);
  Waits waits;
  const Event event = make_event(1, Engine::out, Stamp::none);
  arena.give(*arena.take(4 * 512, waits), event);
  ASSERT_TRUE(arena.take_at(512, 512, waits));
  EXPECT_EQ(arena.pending(), 2u) << "what lies on both sides of it";
  waits.clear();
  EXPECT_FALSE(arena.is_free(512, 1024, waits));
  EXPECT_EQ(waits, Waits{});
  EXPECT_FALSE(arena.is_free(0, 2048, waits));
  EXPECT_EQ(waits, Waits{event});
  EXPECT_TRUE(arena.is_free(1024, 2048, waits));
}

TEST(Arena, JoinsHolesOnBothSides) {
  Arena arena(3 * 512);
  Waits waits;
  const Region a = *arena.take(512, waits);
  const Region b = *arena.take(512, waits);
  const Region c = *arena.take(512, waits);
  arena.give(a, kHappened);
  arena.give(c, kHappened);
  EXPECT_EQ(arena.largest_hole(), 512);
  arena.give(b, kHappened);
  EXPECT_EQ(arena.largest_hole(), 3 * 512);
  EXPECT_EQ(arena.in_use(), 0);
  EXPECT_EQ(arena.high_water(), 3 * 512);
}

TEST(Arena, PiecesThatWaitForDifferentEventsAreOneHole) {
  Arena arena(4 * 512);
  Waits waits;
  const Region a = *arena.take(512, waits), b = *arena.take(512, waits), c = *arena.take(512, waits);
  const Event out = make_event(1, Engine::out, Stamp::none), in = make_event(2, Engine::in, Stamp::none);
  arena.give(b, in);
  arena.give(a, out);
  EXPECT_EQ(arena.largest_hole(), 1024);
  EXPECT_EQ(arena.hole_below(c.offset), (Region{0, 1024}));
  EXPECT_EQ(arena.best_hole(512), 512) << "the other one, at the end";
  ASSERT_EQ(arena.take_highest(1024, waits), (Region{0, 1024}));
  EXPECT_EQ(waits, (Waits{out, in}));
  EXPECT_EQ(arena.hole_below(c.offset).bytes, 0);
}

TEST(Arena, PutsSmallPiecesAtTheHighEndAndCompactedOnesAtTheLow) {
  Arena arena(10 * 512);
  Waits waits;
  EXPECT_EQ(arena.take_highest(512, waits)->offset, 9 * 512);
  EXPECT_EQ(arena.take_lowest(512, waits)->offset, 0);
  EXPECT_EQ(arena.take_at(4 * 512, 512, waits)->offset, 4 * 512);
  EXPECT_FALSE(arena.take_at(4 * 512, 512, waits));
  EXPECT_EQ(arena.take_lowest(4 * 512, waits)->offset, 5 * 512) << "the lowest hole is too small";
}

std::vector<Region> take_in_pieces(Arena& arena, int count) {
  Waits waits;
  std::vector<Region> regions;
  for (int i = 0; i < count; ++i) regions.push_back(*arena.take(512, waits));
  return regions;
}

TEST(Arena, ForgetsEventsThatHappened) {
  NullBackend backend;
  Arena arena(64 * 512);
  const std::vector<Region> regions = take_in_pieces(arena, 64);
  for (const Region& region : regions) arena.give(region, backend.record(Engine::compute));
  EXPECT_EQ(arena.pending(), 64u);
  arena.forget(backend);
  EXPECT_EQ(arena.pending(), 0u);
}

TEST(Arena, ForgetsWhatIsUnrecordedWithTheEventThatStandsForIt) {
  RecordingBackend backend(std::make_unique<NullBackend>());
  Arena arena(64 * 512);
  const std::vector<Region> regions = take_in_pieces(arena, 64);
  for (const Region& region : regions) arena.give(region, unrecorded(3));
  ASSERT_TRUE(arena.has_much_to_forget());
  arena.forget(backend);
  EXPECT_EQ(arena.pending(), 64u);
  arena.forget(backend, backend.record(Engine::compute));
  EXPECT_EQ(arena.pending(), 0u);
  EXPECT_EQ(backend.calls().size(), 2u) << "the record, and one question for all of them";
}

TEST(Arena, AsksWhatHasHappenedOnlyOnceThereAreAsManyEventsAsPiecesToLookAt) {
  RecordingBackend backend(std::make_unique<NullBackend>());
  Arena arena(400 * 512);
  const std::vector<Region> regions = take_in_pieces(arena, 400);
  for (std::size_t i = 0; i < 200; i += 2) arena.give(regions[i], kHappened);  // 100 holes
  for (std::size_t i = 200; i < 240; i += 2) arena.give(regions[i], backend.record(Engine::out));
  ASSERT_TRUE(arena.has_much_to_forget());
  arena.forget(backend);
  EXPECT_EQ(arena.pending(), 0u);
  EXPECT_EQ(arena.pieces().size(), 120u);
  for (std::size_t i = 240; i < 400; ++i) {
    EXPECT_EQ(arena.has_much_to_forget(), arena.pending() >= 120u);
    arena.give(regions[i], backend.record(Engine::out));
  }
  EXPECT_TRUE(arena.has_much_to_forget());
}

TEST(Arena, NeverHandsOutAByteTwice) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    NullBackend backend;
    Arena arena(static_cast<Bytes>(random() % 100'000));
    Waits waits;
    std::map<Bytes, Region> taken;
    Bytes bytes = 0;
    for (int i = 0; i < 500; ++i) {
      if (!taken.empty() && random() % 2) {
        const auto it = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
        arena.give(it->second, random() % 2 ? kHappened : backend.record(Engine::out));
        bytes -= it->second.bytes;
        taken.erase(it);
        if (arena.has_much_to_forget()) arena.forget(backend);
        continue;
      }
      const Bytes size = static_cast<Bytes>(random() % 9000);
      const std::uint64_t how = random() % 3;
      const auto region = how == 0   ? arena.take(size, waits)
                          : how == 1 ? arena.take_lowest(size, waits)
                                     : arena.take_highest(size, waits);
      if (!region) {
        EXPECT_LT(arena.largest_hole(), Arena::rounded(size));
        continue;
      }
      const auto next = taken.lower_bound(region->offset);
      ASSERT_TRUE(next == taken.end() || region->end() <= next->second.offset);
      ASSERT_TRUE(next == taken.begin() || std::prev(next)->second.end() <= region->offset);
      ASSERT_LE(region->end(), arena.capacity());
      bytes += region->bytes;
      taken.emplace(region->offset, *region);
    }
    EXPECT_EQ(arena.in_use(), bytes) << "seed " << seed;
    for (const auto& [offset, region] : taken) arena.give(region, backend.record(Engine::out));
    arena.forget(backend);
    EXPECT_EQ(arena.pending(), 0u);
    EXPECT_EQ(arena.pieces().size(), arena.capacity() > 0 ? 1u : 0u) << "all is one hole again";
  }
}

}  // namespace
}  // namespace ebb
