#include "planners/dqn/environment.h"

#include <gtest/gtest.h>

#include "planners/dqn/small_step.h"
#include "planners/judge.h"
#include "random_programs.h"

namespace ebb::dqn {
namespace {

constexpr double kStep = 12 * 100;  // of a chain of six

double run_at_random(Environment& environment, Random& random) {
  double sum = 0;
  while (!environment.finished()) {
    const auto actions = environment.actions();
    sum += environment.act(actions[random.between(std::size_t{0}, actions.size() - 1)]);
  }
  return sum;
}

TEST(DqnEnvironment, AnOffloadMovesTheAgentToTheFirstNodeAfterTheCopy) {
  // The example of §4.6: ops of 100, a copy of 150 that starts with op 1; op 3 is the next to start after it.
  const ChainProblem chain(6, 4 * 150);
  Environment environment(chain.problem, chain.variables, chain.graph);
  ASSERT_EQ(chain.graph[environment.node()].op, 1);
  EXPECT_EQ(environment.actions().front(), 0) << "doing nothing is legal";
  const double reward = environment.act(chain.graph.offload_node(0));
  EXPECT_EQ(chain.graph[environment.node()].op, 3);
  EXPECT_DOUBLE_EQ(reward, 0);
}

TEST(DqnEnvironment, AnOffloadWaitsAtAnOpThatDoesNotFit) {
  // Two blocks fit: op 2, due at 200, waits for the copy until 250. In backward there is room for the copy
  // back from 1000 on, it is due at 1100 and ends at 1150.
  const ChainProblem chain(6, 2 * 150);
  Environment environment(chain.problem, chain.variables, chain.graph);
  const double reward = environment.act(chain.graph.offload_node(0));
  EXPECT_EQ(chain.graph[environment.node()].op, 2);
  EXPECT_DOUBLE_EQ(reward, -(50.0 + 50.0) / kStep);
}

TEST(DqnEnvironment, RemovingCostsTheTimeToMakeItAgainAndTheAgentGoesOn) {
  const ChainProblem chain(6, 3 * 150);
  Environment environment(chain.problem, chain.variables, chain.graph);
  EXPECT_DOUBLE_EQ(environment.act(chain.graph.remove_node(0)), -100 / kStep);
  EXPECT_EQ(chain.graph[environment.node()].op, 2);
  EXPECT_DOUBLE_EQ(environment.act(chain.graph.remove_node(1)), -200 / kStep)
      << "what it is made of was removed too";
  EXPECT_FALSE(environment.finished());
}

TEST(DqnEnvironment, NothingIsNoChoiceWhereTheNextOpDoesNotFit) {
  const ChainProblem chain(6, 2 * 150);
  Environment environment(chain.problem, chain.variables, chain.graph);
  ASSERT_EQ(environment.actions().front(), 0);
  environment.act(0);
  ASSERT_FALSE(environment.finished());
  EXPECT_EQ(chain.graph[environment.node()].op, 2);
  EXPECT_NE(environment.actions().front(), 0);
}

TEST(DqnEnvironment, AVariableIsOffloadedOrRemovedNotBoth) {
  const ChainProblem chain(6, 2 * 150);
  Environment environment(chain.problem, chain.variables, chain.graph);
  environment.act(chain.graph.offload_node(0));
  for (const int action : environment.actions())
    EXPECT_TRUE(action == 0 || chain.graph[action].variable != 0);
}

TEST(DqnEnvironment, ALimitBelowAnOpIsADeadEnd) {
  const ChainProblem chain(6, 2 * 150 - 1);
  Environment environment(chain.problem, chain.variables, chain.graph);
  EXPECT_TRUE(environment.finished());
  EXPECT_FALSE(environment.outcome());
}

TEST(DqnEnvironment, TheReturnIsMinusTheSimulatedOverhead) {
  for (const Bytes blocks : {2, 3, 4, 8}) {
    const ChainProblem chain(12, blocks * 150);
    Environment environment(chain.problem, chain.variables, chain.graph);
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      Random random(seed);
      environment.reset();
      const double sum = run_at_random(environment, random);
      if (!environment.outcome()) continue;
      const JudgedPlan judged = judge(chain.problem, environment.plan());
      ASSERT_FALSE(judged.infeasible);
      EXPECT_EQ(judged.step.step_time, environment.outcome()->step_time);
      EXPECT_NEAR(sum, 1 - judged.step.ratio(), 1e-9) << blocks << " blocks, seed " << seed;
    }
  }
}

TEST(DqnEnvironment, EveryEpisodeOnRandomProgramsEndsInAValidPlanOrADeadEnd) {
  int plans = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Program program = random_program(random);
    const Gaps gaps(program);
    const Machine machine = random_machine(random);
    const PlanningProblem problem{program, gaps, machine, random_limit(random, program)};
    const auto variables = find_variables(problem, {}, {.most = random.between(1, 20)});
    if (variables.empty()) continue;
    const Graph graph(problem, variables, {});
    Environment environment(problem, variables, graph);
    const double sum = run_at_random(environment, random);
    if (!environment.outcome()) continue;
    ++plans;
    const JudgedPlan judged = judge(problem, environment.plan());
    ASSERT_FALSE(judged.infeasible);
    EXPECT_LE(judged.step.peak_demand, problem.limit);
    for (const Violation& violation : judged.violations) ADD_FAILURE() << violation.sentence;
    EXPECT_NEAR(sum, 1 - judged.step.ratio(), 1e-9);
  }
  EXPECT_GT(plans, 30);
}

TEST(DqnEnvironment, ABlockThatLeavesTwiceIsNoDeadEnd) {
  // Block 0 is idle twice between op 0 and op 6; its second absence needs no copy out.
  std::vector<Op> ops;
  for (OpIndex i = 0; i < 7; ++i) ops.push_back(op({writes(i + 1)}, 100));
  ops[0].accesses.push_back(writes(0));
  ops[3].accesses.push_back(reads(0));
  ops[6].accesses.push_back(reads(0));
  std::vector<Block> blocks = {local(100, 0, 6)};
  for (OpIndex i = 0; i < 7; ++i) blocks.push_back(local(i % 3 == 0 ? 10 : 100, i, i));
  const Program program = literal_program(std::move(ops), std::move(blocks));
  const Gaps gaps(program);
  const Machine machine{.bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000};
  const PlannerOptions swap_only{.allow_recompute = false};
  const PlanningProblem problem{program, gaps, machine, 150};
  const auto variables = find_variables(problem, swap_only, {});
  ASSERT_EQ(variables.size(), 2u);
  const Graph graph(problem, variables, swap_only);
  Environment environment(problem, variables, graph);
  while (!environment.finished()) environment.act(environment.actions().back());
  EXPECT_TRUE(environment.outcome());
}

TEST(DqnEnvironment, ResetForgetsEverything) {
  const ChainProblem chain(12, 4 * 150);
  Environment used(chain.problem, chain.variables, chain.graph);
  Environment fresh(chain.problem, chain.variables, chain.graph);
  Random first(3);
  run_at_random(used, first);
  used.reset();
  Random again(4), same(4);
  EXPECT_EQ(run_at_random(used, again), run_at_random(fresh, same));
  EXPECT_EQ(used.plan(), fresh.plan());
}

}  // namespace
}  // namespace ebb::dqn
