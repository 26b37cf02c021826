#include "layout/packing.h"

#include <gtest/gtest.h>

#include "layout/validate.h"
#include "trace/error.h"

namespace ebb::layout {
namespace {

Layout valid_pack(const Problem& problem, const PackOptions& options = {.alignment = 1}) {
  const Layout layout = pack(problem, options);
  if (layout.fits) {
    for (const Violation& violation : validate(problem, layout, options)) ADD_FAILURE() << violation.message;
  }
  return layout;
}

const Problem kChain{.buffers = {{.id = 0, .begin = 0, .end = 4, .size = 4},
                                 {.id = 1, .begin = 2, .end = 6, .size = 2},
                                 {.id = 2, .begin = 5, .end = 9, .size = 4}}};

TEST(Pack, AnEmptyProblemFitsAndIsProved) {
  const Layout layout = pack({});
  EXPECT_TRUE(layout.fits);
  EXPECT_TRUE(layout.proved);
  EXPECT_EQ(layout.footprint, 0);
  EXPECT_EQ(layout.ratio(), 1.0);
}

TEST(Pack, BuffersThatFollowEachOtherShareMemory) {
  const Layout layout = valid_pack(kChain);
  EXPECT_EQ(layout.footprint, 6);
  EXPECT_EQ(layout.load, 6);
  EXPECT_TRUE(layout.proved);
}

TEST(Pack, OffsetsAreAlignedAndTheLoadIsThatOfRoundedSizes) {
  const Layout layout = valid_pack(kChain, {});
  EXPECT_EQ(layout.load, 1024);
  EXPECT_EQ(layout.footprint, 1024);
}

TEST(Pack, ProvesAnOptimumAboveTheLoad) {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 2, .size = 2},
                                    {.id = 1, .begin = 1, .end = 4, .size = 1},
                                    {.id = 2, .begin = 3, .end = 5, .size = 2}},
                        .period = 5};
  // Every pair meets somewhere on the ring but all three never do.
  Problem ring = problem;
  ring.buffers[2].end = 6;
  const Layout layout = valid_pack(ring);
  EXPECT_EQ(layout.load, 4);
  EXPECT_EQ(layout.footprint, 5);
  EXPECT_EQ(layout.lower_bound, 5);
  EXPECT_TRUE(layout.proved);
}

TEST(Pack, ACapacityBelowTheLoadIsProvedNotToFit) {
  const Layout layout = pack(kChain, {.alignment = 1, .capacity = 5});
  EXPECT_FALSE(layout.fits);
  EXPECT_TRUE(layout.proved);
  EXPECT_TRUE(layout.offsets.empty());
}

TEST(Pack, ACapacityBelowTheLargestBufferIsAnAnswerNotAnError) {
  EXPECT_FALSE(pack(kChain, {.alignment = 1, .capacity = 3}).fits);
}

TEST(Pack, ACapacityThatIsNoMultipleOfTheAlignmentIsUsedAsFarAsItGoes) {
  EXPECT_TRUE(pack(kChain, {.capacity = 1024 + 511}).fits);
  EXPECT_FALSE(pack(kChain, {.capacity = 1023}).fits);
}

TEST(Pack, ANegativeCapacityIsAnError) { EXPECT_THROW(pack(kChain, {.capacity = -1}), InputError); }

TEST(Pack, BadInputIsAnError) {
  EXPECT_THROW(pack({.buffers = {{.id = 0, .begin = 0, .end = 1, .size = 0}}}), InputError);
  EXPECT_THROW(pack({.buffers = {{.id = 0, .begin = 1, .end = 1, .size = 4}}}), InputError);
}

TEST(Pack, AWrappingBufferIsOneRectangleWithOneOffset) {
  const Problem problem{.buffers = {{.id = 0, .begin = 8, .end = 12, .size = 3},
                                    {.id = 1, .begin = 0, .end = 9, .size = 2},
                                    {.id = 2, .begin = 2, .end = 8, .size = 3}},
                        .period = 10};
  const Layout layout = valid_pack(problem);
  EXPECT_EQ(layout.footprint, 5);
  EXPECT_TRUE(layout.proved);
}

TEST(Pack, BuffersThatLiveAlwaysAreStackedAtTheBottom) {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 5, .size = 7},
                                    {.id = 1, .begin = 0, .end = 9, .size = 2},
                                    {.id = 2, .begin = 5, .end = 9, .size = 6},
                                    {.id = 3, .begin = 0, .end = 9, .size = 3}}};
  const Layout layout = valid_pack(problem);
  EXPECT_EQ(layout.offsets, (std::vector<Bytes>{5, 0, 5, 2}));
}

TEST(Pack, FixedBuffersStayAndTheOthersGoAround) {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 9, .size = 2, .fixed = 0},
                                    {.id = 1, .begin = 0, .end = 9, .size = 2, .fixed = 6},
                                    {.id = 2, .begin = 0, .end = 5, .size = 4},
                                    {.id = 3, .begin = 5, .end = 9, .size = 3}}};
  const Layout layout = valid_pack(problem);
  EXPECT_EQ(layout.footprint, 8);
  EXPECT_TRUE(layout.proved);
}

TEST(Pack, AFixedBufferAboveTheCapacityDoesNotFit) {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 1, .size = 2, .fixed = 10}}};
  const Layout layout = pack(problem, {.alignment = 1, .capacity = 11});
  EXPECT_FALSE(layout.fits);
  EXPECT_TRUE(layout.proved);
}

TEST(Pack, TheBoundIsTheTopOfTheHighestFixedBuffer) {
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 1, .size = 2, .fixed = 10}}};
  const Layout layout = valid_pack(problem);
  EXPECT_EQ(layout.footprint, 12);
  EXPECT_EQ(layout.lower_bound, 12);
  EXPECT_TRUE(layout.proved);
}

TEST(Pack, SizesBeyondThirtyTwoBitsAreExact) {
  const Bytes large = (Bytes{1} << 40) + 1;
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 2, .size = large},
                                    {.id = 1, .begin = 1, .end = 3, .size = large + 6}}};
  EXPECT_EQ(valid_pack(problem).footprint, 2 * large + 6);
}

TEST(Pack, ADeadlineThatHasPassedStillGivesAValidLayout) {
  const Layout layout = valid_pack(kChain, {.alignment = 1, .deadline_seconds = 0});
  EXPECT_TRUE(layout.fits);
}

}  // namespace
}  // namespace ebb::layout
