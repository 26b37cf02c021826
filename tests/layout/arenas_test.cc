#include "layout/arenas.h"

#include <gtest/gtest.h>

#include "layout/random_problems.h"
#include "layout/validate.h"
#include "trace/error.h"

namespace ebb::layout {
namespace {

const Problem kThreeTogether{.buffers = {{.id = 0, .begin = 0, .end = 3, .size = 4},
                                         {.id = 1, .begin = 0, .end = 3, .size = 5},
                                         {.id = 2, .begin = 1, .end = 2, .size = 3}}};

TEST(Arenas, BuffersAreSpreadAndStayInsideTheirArena) {
  const PackOptions options{.alignment = 1, .arenas = {5, 7}};
  const Layout layout = pack(kThreeTogether, options);
  ASSERT_TRUE(layout.fits);
  EXPECT_TRUE(validate(kThreeTogether, layout, options).empty());
  EXPECT_EQ(layout.footprint, 12);
  EXPECT_TRUE(layout.proved);
}

TEST(Arenas, TooLittleInTotalIsProvedNotToFit) {
  const Layout layout = pack(kThreeTogether, {.alignment = 1, .arenas = {5, 6}});
  EXPECT_FALSE(layout.fits);
  EXPECT_TRUE(layout.proved);
}

TEST(Arenas, ABufferLargerThanEveryArenaIsProvedNotToFit) {
  const Layout layout = pack(kThreeTogether, {.alignment = 1, .arenas = {4, 4, 4, 4}});
  EXPECT_FALSE(layout.fits);
  EXPECT_TRUE(layout.proved);
}

TEST(Arenas, BadInputIsAnError) {
  EXPECT_THROW(pack(kThreeTogether, {.arenas = {-1}}), InputError);
  Problem fixed = kThreeTogether;
  fixed.buffers[0].fixed = 0;
  EXPECT_THROW(pack(fixed, {.alignment = 1, .arenas = {100, 100}}), InputError);
}

TEST(Arenas, AnArenaWithoutRoomIsSkipped) {
  const PackOptions options{.arenas = {0, 511, 4096}};
  const Layout layout = pack(kThreeTogether, options);
  ASSERT_TRUE(layout.fits);
  EXPECT_EQ(layout.arenas, (std::vector<int>{2, 2, 2}));
}

TEST(Arenas, RandomProblemsAreValidWheneverTheyFit) {
  std::mt19937_64 random(51);
  int fitted = 0;
  for (int n = 0; n < soak(300); ++n) {
    const Problem problem = random_problem(random, {.buffers = 20, .horizon = 20, .cyclic = n % 2 == 0});
    const Bytes load = peak_load(problem, 1);
    const PackOptions options{.alignment = 1, .arenas = {load / 2, load / 3, load / 3 + 8}, .budget = 20'000};
    const Layout layout = pack(problem, options);
    if (!layout.fits) continue;
    ++fitted;
    const auto violations = validate(problem, layout, options);
    ASSERT_TRUE(violations.empty()) << "instance " << n << ": " << violations.front().message;
  }
  EXPECT_GT(fitted, soak(300) / 2);
}

}  // namespace
}  // namespace ebb::layout
