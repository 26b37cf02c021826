#include "planners/swap/candidates.h"

#include <gtest/gtest.h>

#include "literal_programs.h"

namespace ebb {
namespace {

constexpr double kNano = 1e-9;

// The link takes this long for a MiB.
Machine link_at(Nanoseconds per_mebibyte) {
  Machine machine;
  machine.bandwidth_in = machine.bandwidth_out = kMiB * (1'000'000'000 / per_mebibyte);
  return machine;
}

// Load in MiB: 2, 3, 4, 3, 2. Op 2 is the peak; a is idle from op 0 to 4, b from op 1 to 3.
Program two_idle_blocks() {
  return literal_program({op({writes(0)}, 100), op({writes(1)}, 100), op({writes(2)}, 100),
                          op({reads(1)}, 100), op({reads(0)}, 100)},
                         {local(2 * kMiB, 0, 4), local(kMiB, 1, 3), local(kMiB, 2, 2)});
}

struct Found {
  const Program program;
  const Gaps gaps{program};
  const Machine machine;
  const std::vector<Candidate> candidates;

  Found(Program p, Machine m, OpIndex peak, Bytes smallest = 1)
      : program(std::move(p)),
        machine(std::move(m)),
        candidates(CandidateFinder({program, gaps, machine, 0})
                       .find(peak, smallest, std::vector<bool>(static_cast<std::size_t>(gaps.count())),
                             program.load())) {}
  double score(std::size_t candidate, Score which) const {
    return candidates.at(candidate).scores[static_cast<std::size_t>(which)];
  }
};

TEST(Candidates, DurationOfAbsenceIsIdleTimeLessBothCopies) {
  const Found found(two_idle_blocks(), link_at(10), 2);
  ASSERT_EQ(found.candidates.size(), 2u);
  EXPECT_NEAR(found.score(0, Score::doa), (300 - 20 - 20) * kNano, 1e-12);
  EXPECT_NEAR(found.score(1, Score::doa), (100 - 10 - 10) * kNano, 1e-12);
}

TEST(Candidates, AreaOfAbsenceMultipliesWithTheSize) {
  const Found found(two_idle_blocks(), link_at(10), 2);
  EXPECT_NEAR(found.score(0, Score::aoa), 260 * kNano * 2, 1e-12);
  EXPECT_NEAR(found.score(1, Score::aoa), 80 * kNano * 1, 1e-12);
}

TEST(Candidates, ANegativeDurationIsDividedByTheSizeSoThatLargeBlocksRankHigher) {
  const Found found(two_idle_blocks(), link_at(100), 2);
  EXPECT_NEAR(found.score(0, Score::doa), (300 - 200 - 200) * kNano, 1e-12);
  EXPECT_NEAR(found.score(1, Score::doa), (100 - 100 - 100) * kNano, 1e-12);
  EXPECT_NEAR(found.score(0, Score::aoa), -100 * kNano / 2, 1e-12);
  EXPECT_NEAR(found.score(1, Score::aoa), -100 * kNano / 1, 1e-12);
}

TEST(Candidates, WeightedDurationIsTheAreaUnderTheLoadWhileIdle) {
  const Found found(two_idle_blocks(), link_at(10), 2);
  const double mebibyte = static_cast<double>(kMiB);
  EXPECT_NEAR(found.score(0, Score::wdoa), (3 + 4 + 3) * mebibyte * 100 * kNano, 1e-6);
  EXPECT_NEAR(found.score(1, Score::wdoa), 4 * mebibyte * 100 * kNano, 1e-6);
}

TEST(Candidates, TheSubmodularOneIsTakenAfterHigherOnesHaveLeft) {
  const Found found(two_idle_blocks(), link_at(10), 2);
  const double mebibyte = static_cast<double>(kMiB);
  EXPECT_NEAR(found.score(0, Score::swdoa), (3 + 4 + 3) * mebibyte * 100 * kNano, 1e-6);
  EXPECT_NEAR(found.score(1, Score::swdoa), (4 - 2) * mebibyte * 100 * kNano, 1e-6);
}

TEST(Candidates, OnlyGapsThatContainThePeakAndBlocksThatAreLargeEnough) {
  const Found at_op_1(two_idle_blocks(), link_at(10), 1);
  ASSERT_EQ(at_op_1.candidates.size(), 1u);
  EXPECT_EQ(at_op_1.gaps[at_op_1.candidates[0].gap].block, 0);
  const Found large(two_idle_blocks(), link_at(10), 2, 2 * kMiB);
  ASSERT_EQ(large.candidates.size(), 1u);
  EXPECT_EQ(large.gaps[large.candidates[0].gap].block, 0);
}

// A weight that op 1 reads and op 2 writes is idle over the boundary, where op 0 has the peak.
TEST(Candidates, AVariableMayCrossTheIteration) {
  const Found found(
      literal_program({op({writes(1)}, 100), op({reads(0)}, 100), op({updates(0)}, 100), op({}, 100)},
                      {persistent(kMiB), local(3 * kMiB, 0, 0)}),
      link_at(10), 0);
  ASSERT_EQ(found.candidates.size(), 1u);
  EXPECT_EQ(found.gaps[found.candidates[0].gap].kind, GapKind::wrapping);
  EXPECT_NEAR(found.score(0, Score::doa), (200 - 20) * kNano, 1e-12);
  EXPECT_NEAR(found.score(0, Score::wdoa), (1 + 4) * static_cast<double>(kMiB) * 100 * kNano, 1e-6);
  EXPECT_EQ(found.candidates[0].begin, -100);
  EXPECT_EQ(found.candidates[0].end, 100);
}

TEST(Candidates, NobodyCopiesOutWhatIsNeverWritten) {
  const Found found(
      literal_program({op({reads(0)}, 100), op({writes(1)}, 100)}, {persistent(kMiB), local(3 * kMiB, 1, 1)}),
      link_at(10), 1);
  ASSERT_EQ(found.candidates.size(), 1u);
  EXPECT_NEAR(found.score(0, Score::doa), (100 - 10) * kNano, 1e-12);
}

TEST(Candidates, StandardisedScoresHaveMeanZeroAndDeviationOne) {
  std::vector<Candidate> candidates = {{.scores = {1, 5, 0, 2}}, {.scores = {3, 5, 0, 4}}};
  standardise(candidates);
  EXPECT_EQ(candidates[0].scores, (Scores{-1, 0, 0, -1}));
  EXPECT_EQ(candidates[1].scores, (Scores{1, 0, 0, 1}));
}

}  // namespace
}  // namespace ebb
