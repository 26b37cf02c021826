#include "layout/problem.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "trace/error.h"

namespace ebb::layout {
namespace {

std::string error_of(const Problem& problem, Bytes alignment = 1) {
  try {
    check(problem, alignment);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Problem, AnEmptyProblemIsFine) { EXPECT_EQ(error_of({}), ""); }

TEST(Problem, AZeroSizeIsAnErrorThatNamesTheBuffer) {
  EXPECT_EQ(error_of({.buffers = {{.id = 7, .begin = 0, .end = 1, .size = 0}}}),
            "buffer 7: size 0 is not positive");
}

TEST(Problem, AnEmptyLifetimeIsAnError) {
  EXPECT_NE(error_of({.buffers = {{.id = 1, .begin = 3, .end = 3, .size = 1}}}), "");
}

TEST(Problem, AnInvertedLifetimeIsAnError) {
  EXPECT_NE(error_of({.buffers = {{.id = 1, .begin = 3, .end = 2, .size = 1}}}), "");
}

TEST(Problem, ADuplicateIdIsAnError) {
  EXPECT_EQ(error_of({.buffers = {{.id = 5, .begin = 0, .end = 1, .size = 1},
                                  {.id = 5, .begin = 1, .end = 2, .size = 1}}}),
            "buffer 5: the id occurs twice");
}

TEST(Problem, SizesWhoseSumOverflowsAreAnError) {
  const Bytes huge = std::numeric_limits<Bytes>::max() / 2;
  EXPECT_NE(error_of({.buffers = {{.id = 0, .begin = 0, .end = 1, .size = huge},
                                  {.id = 1, .begin = 0, .end = 1, .size = huge}}}),
            "");
  EXPECT_NE(
      error_of({.buffers = {{.id = 0, .begin = 0, .end = 1, .size = std::numeric_limits<Bytes>::max()}}}),
      "");
}

TEST(Problem, TimesNearTheLimitsAreAnError) {
  EXPECT_NE(error_of({.buffers = {{.id = 0,
                                   .begin = std::numeric_limits<Time>::min(),
                                   .end = std::numeric_limits<Time>::max(),
                                   .size = 1}}}),
            "");
}

TEST(Problem, ALifetimeOutsideTheRingIsAnError) {
  EXPECT_NE(error_of({.buffers = {{.id = 0, .begin = 10, .end = 11, .size = 1}}, .period = 10}), "");
  EXPECT_NE(error_of({.buffers = {{.id = 0, .begin = 2, .end = 13, .size = 1}}, .period = 10}), "");
  EXPECT_EQ(error_of({.buffers = {{.id = 0, .begin = 2, .end = 12, .size = 1}}, .period = 10}), "");
}

TEST(Problem, AnUnalignedOrNegativeFixedOffsetIsAnError) {
  EXPECT_NE(error_of({.buffers = {{.id = 0, .begin = 0, .end = 1, .size = 1, .fixed = 100}}}, 512), "");
  EXPECT_NE(error_of({.buffers = {{.id = 0, .begin = 0, .end = 1, .size = 1, .fixed = -512}}}, 512), "");
  EXPECT_EQ(error_of({.buffers = {{.id = 0, .begin = 0, .end = 1, .size = 1, .fixed = 1024}}}, 512), "");
}

TEST(Problem, FixedBuffersThatOverlapAreAnErrorThatNamesBoth) {
  EXPECT_EQ(error_of({.buffers = {{.id = 1, .begin = 0, .end = 2, .size = 8, .fixed = 0},
                                  {.id = 2, .begin = 1, .end = 3, .size = 8, .fixed = 4}}}),
            "buffers 1 and 2: fixed offsets 0 and 4 overlap");
}

TEST(Problem, AnAlignmentBelowOneIsAnError) { EXPECT_NE(error_of({}, 0), ""); }

TEST(PeakLoad, AddsWhatIsAliveTogetherAndNotWhatFollows) {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 5, .size = 3},
                                    {.id = 1, .begin = 5, .end = 9, .size = 4},
                                    {.id = 2, .begin = 4, .end = 6, .size = 2}}};
  EXPECT_EQ(peak_load(problem, 1), 6);
}

TEST(PeakLoad, RoundsSizesUpToTheAlignment) {
  EXPECT_EQ(peak_load({.buffers = {{.id = 0, .begin = 0, .end = 1, .size = 513}}}, 512), 1024);
}

TEST(PeakLoad, CountsAWrappingBufferAtBothEndsOfTheRing) {
  const Problem problem{.buffers = {{.id = 0, .begin = 8, .end = 12, .size = 3},
                                    {.id = 1, .begin = 0, .end = 2, .size = 4},
                                    {.id = 2, .begin = 2, .end = 8, .size = 5}},
                        .period = 10};
  EXPECT_EQ(peak_load(problem, 1), 7);
}

TEST(OverlapInTime, IsHalfOpen) {
  const Buffer a{.id = 0, .begin = 0, .end = 5, .size = 1};
  EXPECT_FALSE(overlap_in_time(a, {.id = 1, .begin = 5, .end = 6, .size = 1}, {}));
  EXPECT_TRUE(overlap_in_time(a, {.id = 1, .begin = 4, .end = 6, .size = 1}, {}));
}

TEST(OverlapInTime, GoesAroundTheRing) {
  const Buffer wrapping{.id = 0, .begin = 8, .end = 12, .size = 1};
  EXPECT_TRUE(overlap_in_time(wrapping, {.id = 1, .begin = 1, .end = 3, .size = 1}, 10));
  EXPECT_FALSE(overlap_in_time(wrapping, {.id = 1, .begin = 2, .end = 3, .size = 1}, 10));
  EXPECT_TRUE(overlap_in_time(wrapping, {.id = 1, .begin = 9, .end = 11, .size = 1}, 10));
}

}  // namespace
}  // namespace ebb::layout
