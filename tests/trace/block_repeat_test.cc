#include "trace/block_repeat.h"

#include <gtest/gtest.h>

#include "trace/recorder.h"

namespace ebb {
namespace {

using testing::Recorder;

std::optional<PeriodicRun> exact_part(Recorder& recorder, PeriodicRun run, std::size_t repeats = 2) {
  const auto blocks = block_histories(recorder.trace(), "t");
  return BlockRepeat(recorder.trace(), blocks, 10'000).exact_part(run, repeats);
}

TEST(BlockRepeat, AcceptsOneWeightUsedAgainAndAgain) {
  Recorder recorder;
  const BlockId weight = recorder.malloc(8);
  for (int i = 0; i < 4; ++i) recorder.op("o", {weight}, {});
  const PeriodicRun run{.begin = 1, .end = 5, .period = 1};
  EXPECT_EQ(exact_part(recorder, run), run);
}

TEST(BlockRepeat, RefusesWeightsThatOnlyLookAlike) {
  Recorder recorder;
  for (int i = 0; i < 4; ++i) recorder.malloc(8);
  for (BlockId weight : {0, 1, 2, 3}) recorder.op("sgd", {}, {weight});
  EXPECT_EQ(exact_part(recorder, {.begin = 4, .end = 8, .period = 1}), std::nullopt);
}

TEST(BlockRepeat, SeesThatTwoBuffersAlternate) {
  Recorder recorder;
  for (int i = 0; i < 2; ++i) recorder.malloc(8);
  for (int i = 0; i < 6; ++i) recorder.op("o", {i % 2}, {});
  EXPECT_EQ(exact_part(recorder, {.begin = 2, .end = 8, .period = 1}), std::nullopt);
  const PeriodicRun run{.begin = 2, .end = 8, .period = 2};
  EXPECT_EQ(exact_part(recorder, run), run);
}

TEST(BlockRepeat, RefusesAPeriodThatPilesUpMemory) {
  Recorder recorder;
  for (int i = 0; i < 6; ++i) recorder.make("step", 8, {});
  EXPECT_EQ(exact_part(recorder, {.begin = 0, .end = 6, .period = 1}), std::nullopt);
}

TEST(BlockRepeat, LetsTheRunReplaceWhatTheWarmUpLeft) {
  Recorder recorder;
  BlockId gradient = recorder.malloc(8);
  for (int i = 0; i < 3; ++i) {
    recorder.op("use", {gradient}, {});
    recorder.free(gradient);
    gradient = recorder.make("make", 8, {});
  }
  const PeriodicRun run{.begin = 1, .end = 10, .period = 3};
  EXPECT_EQ(exact_part(recorder, run), run);
}

TEST(BlockRepeat, CutsOffABeginningThatUsesAnotherBlock) {
  Recorder recorder;
  const BlockId first = recorder.malloc(8), later = recorder.malloc(8);
  for (int i = 0; i < 5; ++i) {
    recorder.op("a", {}, {});
    recorder.op("b", {i == 0 ? first : later}, {});
  }
  const PeriodicRun expected{.begin = 4, .end = 12, .period = 2};
  EXPECT_EQ(exact_part(recorder, {.begin = 2, .end = 12, .period = 2}), expected);
}

}  // namespace
}  // namespace ebb
