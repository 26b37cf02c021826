#include <gtest/gtest.h>

#include "machine/presets.h"
#include "planners/judge.h"
#include "planners/mixed/mixed.h"
#include "planners/mixed/particle.h"
#include "planners/mixed/steps.h"
#include "trace/load.h"

namespace ebb {
namespace {

struct Problem {
  Program program = two_layers();
  Gaps gaps{program};
  Machine machine = plain_machine();
  std::vector<FeatureMap> maps = find_feature_maps(program, gaps);
  PlanningProblem at(Bytes limit) const { return {program, gaps, machine, limit}; }
};

using enum Action;

TEST(PolicyJudge, ComparesByExcessAndThenByTime) {
  const Problem problem;
  PolicyJudge judge(problem.at(180), problem.maps);
  EXPECT_EQ(judge({keep, keep}), (Score{.excess = 50, .time = 0}));
  // Block 2 is gone at op 3, but back for op 4: 20 + 60 + 60 + 40 + 50 there.
  EXPECT_EQ(judge({keep, recompute}).excess, 50);
  // Block 1 leaves beside op 2 and returns while op 4 runs… which needs 170 without it.
  EXPECT_EQ(judge({swap, keep}).excess, 0);
  EXPECT_LT(judge({swap, keep}), judge({keep, recompute}));
  EXPECT_EQ(judge.count(), 5);
  EXPECT_EQ(judge.simulated(), 3);
}

TEST(PolicyJudge, WhatItRemembersIsWhatASimulationSays) {
  const Problem problem;
  PolicyJudge judge(problem.at(180), problem.maps);
  const Action actions[] = {keep, swap, recompute};
  for (int round = 0; round < 2; ++round)
    for (const Action first : actions)
      for (const Action second : actions)
        EXPECT_EQ(judge({first, second}), PolicyJudge(problem.at(180), problem.maps)({first, second}));
  EXPECT_EQ(judge.count(), 18);
  EXPECT_EQ(judge.simulated(), 9);
}

TEST(Particle, TakesTheBetterActionOfTheLeaderAndItsOwnBest) {
  const Problem problem;
  PolicyJudge judge(problem.at(180), problem.maps);
  Particle particle(1);
  particle.start({keep, keep}, judge);
  // Map 0: the leader's swap fits, keeping does not. Map 1: recomputing costs 10 ns, keeping nothing.
  EXPECT_TRUE(particle.update({swap, recompute}, judge, 100));
  EXPECT_EQ(particle.policy(), (Policy{swap, keep}));
  EXPECT_TRUE(particle.score().fits());
}

TEST(Particle, DoesNotJudgeWhatItKnows) {
  const Problem problem;
  PolicyJudge judge(problem.at(180), problem.maps);
  Particle particle(1);
  particle.start({keep, keep}, judge);
  particle.update({swap, recompute}, judge, 100);
  EXPECT_EQ(judge.count(), 3);  // at the start, and one new action per map
  particle.update({swap, keep}, judge, 100);
  EXPECT_EQ(judge.count(), 3);  // leader, own best and policy agree
}

TEST(Particle, StaysWithinItsQuota) {
  const Problem problem;
  PolicyJudge judge(problem.at(180), problem.maps);
  Particle particle(1);
  particle.start({keep, keep}, judge);
  particle.update({swap, recompute}, judge, 2);
  EXPECT_EQ(judge.count(), 1);
  EXPECT_EQ(particle.policy(), (Policy{keep, keep}));
}

TEST(Particle, RemembersTheBestItEverTried) {
  const Problem problem;
  PolicyJudge judge(problem.at(180), problem.maps);
  Particle particle(1);
  particle.start({swap, keep}, judge);
  const Score good = particle.score();
  particle.start({keep, keep}, judge);
  EXPECT_FALSE(particle.score().fits());
  EXPECT_EQ(particle.record(), (Policy{swap, keep}));
  EXPECT_EQ(particle.record_score(), good);
}

// Nine policies: the swarm must find the best of them.
TEST(Home, FindsTheBestPolicyOfASmallStep) {
  const Problem problem;
  for (const Bytes limit : {229, 200, 180, 170, 150}) {
    PolicyJudge judge(problem.at(limit), problem.maps);
    Score best;
    for (Action first : {keep, swap, recompute})
      for (Action second : {keep, swap, recompute}) best = std::min(best, judge({first, second}));
    const PlanningResult result = plan_home(problem.at(limit), {});
    if (!best.fits()) {
      EXPECT_TRUE(result.infeasible) << limit;
      continue;
    }
    ASSERT_FALSE(result.infeasible) << limit;
    EXPECT_EQ(ebb::judge(problem.at(limit), result.plan).step.step_time, best.time) << limit;
  }
}

TEST(Home, ShowsHowTheSwarmConverges) {
  const Problem problem;
  const PlanningResult result =
      plan_home(problem.at(180), {.settings = {{"particles", 5}, {"iterations", 7}}});
  ASSERT_EQ(result.rounds.size(), 8u);  // the start and seven updates
  for (std::size_t i = 0; i < result.rounds.size(); ++i) {
    const SearchRound& round = result.rounds[i];
    EXPECT_LE(round.best, round.mean);
    EXPECT_LE(round.mean, round.worst);
    if (i == 0) continue;
    EXPECT_LE(round.best, result.rounds[i - 1].best);
    EXPECT_GE(round.evaluations, result.rounds[i - 1].evaluations);
  }
}

TEST(Home, SpendsNoMoreThanItsBudget) {
  const Program program = load_program(EBB_SOURCE_DIR "/data/unet.json.gz");
  const Gaps gaps(program);
  const PlanningProblem problem{program, gaps, find_preset("h200"), program.peak_demand() * 6 / 10};
  for (const std::int64_t budget : {1, 2, 5, 60, 400}) {
    const PlanningResult result = plan_home(problem, {.evaluations = budget});
    EXPECT_LE(result.evaluations, std::max<std::int64_t>(budget, 3)) << budget;
  }
}

TEST(Home, TheNumberOfThreadsChangesNothing) {
  const Program program = load_program(EBB_SOURCE_DIR "/data/unet.json.gz");
  const Gaps gaps(program);
  const PlanningProblem problem{program, gaps, find_preset("h200"), program.peak_demand() * 6 / 10};
  const PlanningResult one = plan_home(problem, {.evaluations = 2000, .threads = 1});
  const PlanningResult four = plan_home(problem, {.evaluations = 2000, .threads = 4});
  EXPECT_EQ(one.plan, four.plan);
  EXPECT_EQ(one.rounds, four.rounds);
  EXPECT_EQ(one.evaluations, four.evaluations);
}

}  // namespace
}  // namespace ebb
