#include "runtime/victims.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ebb {
namespace {

using Pieces = std::vector<ArenaPiece>;

TEST(CheapestWindow, PrefersTheLeastSumOfCosts) {
  const Pieces pieces = {{0, 10, 5}, {10, 10, 0}, {20, 10, 1}, {30, 10, kImmovable}, {40, 20, 4}};
  EXPECT_EQ(cheapest_window(pieces, 20), (PieceWindow{1, 3})) << "the hole and its cheap neighbour";
  EXPECT_EQ(cheapest_window(pieces, 10), (PieceWindow{1, 2})) << "the hole alone";
  EXPECT_EQ(cheapest_window(pieces, 30), (PieceWindow{0, 3}));
}

TEST(CheapestWindow, NeverCrossesWhatIsPinned) {
  const Pieces pieces = {{0, 10, 1}, {10, 10, kImmovable}, {20, 10, 1}};
  EXPECT_EQ(cheapest_window(pieces, 11), std::nullopt);
  EXPECT_EQ(cheapest_window({}, 1), std::nullopt);
}

TEST(CheapestWindow, FindsWhatExhaustiveSearchFinds) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    Pieces pieces;
    Bytes offset = 0;
    for (std::size_t i = random() % 12; i > 0; --i) {
      const Bytes bytes = 1 + static_cast<Bytes>(random() % 9);
      const double cost = random() % 4 == 0 ? kImmovable : static_cast<double>(random() % 5);
      pieces.push_back({offset, bytes, cost});
      offset += bytes;
    }
    const Bytes need = 1 + static_cast<Bytes>(random() % 20);
    double best = kImmovable;
    const auto cost_of_window = [&](std::size_t first, std::size_t last) {
      Bytes bytes = 0;
      double cost = 0;
      for (std::size_t i = first; i < last; ++i) bytes += pieces[i].bytes, cost += pieces[i].cost;
      return bytes >= need ? cost : kImmovable;
    };
    for (std::size_t first = 0; first < pieces.size(); ++first)
      for (std::size_t last = first + 1; last <= pieces.size(); ++last)
        best = std::min(best, cost_of_window(first, last));
    const auto window = cheapest_window(pieces, need);
    ASSERT_EQ(window.has_value(), best != kImmovable) << "seed " << seed;
    EXPECT_TRUE(!window || cost_of_window(window->first, window->last) == best) << "seed " << seed;
  }
}

TEST(VictimCost, FallsWithIdlenessCleannessAndACheapReplay) {
  const Victim dirty{.copy_out = 100, .copy_in = 100, .idle_ops = 9};
  Victim clean = dirty, idle = dirty, cheap = dirty;
  clean.copy_out = 0;
  idle.idle_ops = 99;
  cheap.remake = 10;
  EXPECT_LT(cost_of(clean), cost_of(dirty));
  EXPECT_LT(cost_of(idle), cost_of(dirty));
  EXPECT_LT(cost_of(cheap), cost_of(clean));
}

}  // namespace
}  // namespace ebb
