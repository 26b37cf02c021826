#include "layout/validate.h"

#include <gtest/gtest.h>

namespace ebb::layout {
namespace {

const Problem kPair{.buffers = {{.id = 10, .begin = 0, .end = 4, .size = 512},
                                {.id = 20, .begin = 3, .end = 6, .size = 100}}};
const Layout kGood{.fits = true, .offsets = {0, 512}, .footprint = 1024, .load = 1024};

// The only rule that is broken, and nothing else.
void expect_broken(Rule rule, const std::vector<Violation>& violations) {
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations.front().rule, rule) << violations.front().message;
}

TEST(Validate, AGoodLayoutBreaksNoRule) { EXPECT_TRUE(validate(kPair, kGood).empty()); }

TEST(Validate, NamesThePairThatOverlaps) {
  Layout layout = kGood;
  layout.offsets = {0, 0};
  layout.footprint = 512;
  const auto violations = validate(kPair, layout);
  expect_broken(Rule::kOverlap, violations);
  EXPECT_EQ(violations[0].buffer, 20);
  EXPECT_EQ(violations[0].other, 10);
  EXPECT_EQ(violations[0].message, "buffers 20 and 10 overlap at time 3: [0, 512) and [0, 512)");
}

TEST(Validate, SharingAddressesOneAfterTheOtherIsFine) {
  Problem problem = kPair;
  problem.buffers[1].begin = 4;
  const Layout layout{.fits = true, .offsets = {0, 0}, .footprint = 512, .load = 512};
  EXPECT_TRUE(validate(problem, layout).empty());
}

TEST(Validate, SeesAnOverlapAroundTheRing) {
  const Problem problem{.buffers = {{.id = 1, .begin = 8, .end = 12, .size = 512},
                                    {.id = 2, .begin = 1, .end = 3, .size = 512}},
                        .period = 10};
  const Layout layout{.fits = true, .offsets = {0, 0}, .footprint = 512, .load = 1024};
  expect_broken(Rule::kOverlap, validate(problem, layout));
}

TEST(Validate, SeesAPartialOverlapInAddress) {
  const Problem problem{.buffers = {{.id = 1, .begin = 0, .end = 9, .size = 2048},
                                    {.id = 2, .begin = 1, .end = 3, .size = 512}}};
  const Layout layout{.fits = true, .offsets = {0, 1024}, .footprint = 2048, .load = 2560};
  expect_broken(Rule::kOverlap, validate(problem, layout));
}

TEST(Validate, AMissingOffsetOrLayoutIsNamed) {
  Layout layout = kGood;
  layout.offsets.pop_back();
  expect_broken(Rule::kMissing, validate(kPair, layout));
  expect_broken(Rule::kMissing, validate(kPair, {.fits = false}));
}

TEST(Validate, ANegativeOffsetIsNamed) {
  Layout layout = kGood;
  layout.offsets = {-512, 0};
  const auto violations = validate(kPair, layout);
  expect_broken(Rule::kNegativeOffset, violations);
  EXPECT_EQ(violations[0].buffer, 10);
}

TEST(Validate, AnUnalignedOffsetIsNamed) {
  Layout layout = kGood;
  layout.offsets[1] = 513;
  expect_broken(Rule::kAlignment, validate(kPair, layout));
}

TEST(Validate, AFixedBufferThatMovedIsNamed) {
  Problem problem = kPair;
  problem.buffers[0].fixed = 1024;
  expect_broken(Rule::kFixedOffset, validate(problem, kGood));
}

TEST(Validate, ABufferAboveTheCapacityIsNamed) {
  const auto violations = validate(kPair, kGood, {.capacity = 1023});
  expect_broken(Rule::kCapacity, violations);
  EXPECT_EQ(violations[0].buffer, 20);
}

TEST(Validate, AWrongFootprintIsNamed) {
  Layout layout = kGood;
  layout.footprint = 512;
  expect_broken(Rule::kFootprint, validate(kPair, layout));
}

TEST(Validate, ArenasAreSeparateAndBounded) {
  Layout layout = kGood;
  layout.offsets = {0, 0};
  layout.arenas = {0, 1};
  EXPECT_TRUE(validate(kPair, layout, {.arenas = {512, 512}}).empty());
  expect_broken(Rule::kCapacity, validate(kPair, layout, {.arenas = {512, 511}}));
  layout.arenas = {0, 2};
  expect_broken(Rule::kArena, validate(kPair, layout, {.arenas = {512, 512}}));
}

}  // namespace
}  // namespace ebb::layout
