// Algorithm 1 without gradients: a trainer that learns nothing leaves its rules to be seen.
#include "planners/dqn/learning.h"

#include <gtest/gtest.h>

#include "planners/dqn/small_step.h"
#include "planners/judge.h"
#include "random_programs.h"

namespace ebb::dqn {
namespace {

class StillTrainer : public Trainer {
 public:
  explicit StillTrainer(Weights weights) : weights_(std::move(weights)) {}
  std::vector<double> q(std::span<const Sample> batch) override { return std::vector<double>(batch.size()); }
  double fit(std::span<const Sample> batch, double) override {
    for (const Sample& sample : batch) EXPECT_LE(sample.target, 100);
    return 0;
  }
  Weights weights() const override { return weights_; }

 private:
  Weights weights_;
};

std::unique_ptr<Trainer> make_still(const Graph&, const Weights& start) {
  return std::make_unique<StillTrainer>(start);
}

const PlannerOptions kQuick{.evaluations = 12};

TEST(DqnLearning, GivesAValidPlanOrTheReasonWhyNot) {
  int plans = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Program program = random_program(random);
    const Gaps gaps(program);
    const Machine machine = random_machine(random);
    const PlanningProblem problem{program, gaps, machine, random_limit(random, program)};
    const PlanningResult result = plan_dqn(problem, kQuick, make_still);
    if (result.infeasible) {
      EXPECT_NE(result.infeasible->obstacle, Obstacle::none);
      continue;
    }
    ++plans;
    const JudgedPlan judged = judge(problem, result.plan);
    ASSERT_FALSE(judged.infeasible);
    EXPECT_LE(judged.step.peak_demand, problem.limit);
    EXPECT_TRUE(judged.violations.empty());
    for (const SearchRound& round : result.rounds) EXPECT_TRUE(round.mean == 0 || round.best <= round.mean);
    if (!result.rounds.empty()) {
      EXPECT_EQ(judged.step.step_time, result.rounds.back().best);
    }
  }
  EXPECT_GT(plans, 30);
}

TEST(DqnLearning, HasOneRoundPerEpisode) {
  const ChainProblem chain(12, 4 * 150);
  const PlanningResult result = plan_dqn(chain.problem, {.evaluations = 9}, make_still);
  EXPECT_EQ(result.rounds.size(), 9u);
}

TEST(DqnLearning, StopsAtAPlanThatCostsNothingUnlessItIsToPractise) {
  const ChainProblem chain(12, 11 * 150, {}, {}, 1'000'000'000'000);
  PlannerOptions options{.evaluations = 9};
  EXPECT_LT(plan_dqn(chain.problem, options, make_still).rounds.size(), 9u);
  options.settings["practice"] = 1;
  EXPECT_EQ(plan_dqn(chain.problem, options, make_still).rounds.size(), 9u);
}

TEST(DqnLearning, TheSameSeedGivesTheSamePlanAndAnotherOneAnother) {
  const ChainProblem chain(30, 9 * 150);
  const PlanningResult first = plan_dqn(chain.problem, {.seed = 3, .evaluations = 5}, make_still);
  const PlanningResult second = plan_dqn(chain.problem, {.seed = 3, .evaluations = 5}, make_still);
  const PlanningResult other = plan_dqn(chain.problem, {.seed = 4, .evaluations = 5}, make_still);
  EXPECT_EQ(first.plan, second.plan);
  EXPECT_EQ(first.rounds, second.rounds);
  EXPECT_NE(first.rounds, other.rounds);
}

TEST(DqnLearning, AStepThatFitsIsLeftAlone) {
  const ChainProblem chain(6, 6 * 150);
  const PlanningResult result = plan_dqn(chain.problem, kQuick, make_still);
  EXPECT_FALSE(result.infeasible);
  EXPECT_EQ(result.plan, Plan::keep_all(chain.gaps));
}

TEST(DqnLearning, IsNeverWorseThanThePlanItStartsFrom) {
  const ChainProblem chain(30, 9 * 150);
  const PlanningResult good = plan_dqn(chain.problem, {.evaluations = 40}, make_still);
  ASSERT_FALSE(good.infeasible);
  const PlanningResult after =
      plan_dqn(chain.problem, {.seed = 5, .evaluations = 1, .start = good.plan}, make_still);
  EXPECT_LE(judge(chain.problem, after.plan).step.step_time, judge(chain.problem, good.plan).step.step_time);
}

TEST(DqnLearning, KnowledgeGoesInAndComesOut) {
  const ChainProblem chain(12, 4 * 150);
  const std::string knowledge = to_text(Weights::random(5, 77));
  PlannerOptions options{.evaluations = 3};
  options.knowledge = knowledge;
  EXPECT_EQ(plan_dqn(chain.problem, options, make_still).knowledge, knowledge);
}

}  // namespace
}  // namespace ebb::dqn
