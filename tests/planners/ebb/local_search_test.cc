#include "planners/ebb/local_search.h"

#include <gtest/gtest.h>

#include "literal_programs.h"
#include "planners/ebb/untimed.h"

namespace ebb {
namespace {

struct Away {
  BlockId block = 0;
  OpIndex after = 0;
  Action action = Action::keep;
};

// A plan that lets these leave, judged.
Incumbent plan_without(const PlanningProblem& problem, std::initializer_list<Away> all) {
  Incumbent start{.plan = Plan::keep_all(problem.gaps)};
  for (const Away& away : all) start.plan[problem.gaps.find(away.block, away.after)] = untimed(away.action);
  start.step = Evaluator(problem)(start.plan);
  return start;
}

//   op      0  1  2    3 large  4    5    6      a and b are both away at op 3; a returns over the link, for
//   a  100  W              ·    ·    R           which op 5 waits; b is made again from x, before op 6 or,
//   x    1     W  R                              behind that wait, before op 4
//   b  100        W        ·    ·    ·    R
TEST(LocalSearch, MakesAgainWhileACopyIsWaitedFor) {
  std::vector<Op> ops = {op({writes(0)}),         op({writes(1)}), op({reads(1), writes(2)}, 80),
                         op({writes(3)}, 400),    op({writes(4)}), op({reads(0)}),
                         op({reads(1), reads(2)})};
  ops[0].replayable = false;
  ops[1].replayable = false;
  const Program program = literal_program(
      ops, {local(100, 0, 5), local(1, 1, 6), local(100, 2, 6), local(200, 3, 3), local(1, 4, 4)});
  const Gaps gaps(program);
  const Machine machine{.bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000};
  const PlanningProblem problem{program, gaps, machine, 210};
  const PlannerOptions options;
  const std::vector<Choice> choices = find_choices(problem, options);
  const Incumbent start = plan_without(problem, {{0, 0, Action::swap}, {2, 2, Action::recompute}});
  ASSERT_TRUE(start.feasible());
  ASSERT_GT(start.step.stalls[static_cast<std::size_t>(StallCause::copy_in)], 80);
  const std::vector<OutlivingBlock> none;
  LocalSearch search(problem, choices, none, 1);
  const Incumbent found = search.improve(start, 0.3, {.evaluations = 400});
  EXPECT_EQ(found.step.step_time, start.step.step_time - 80);
}

TEST(LocalSearch, EndsWhenItsSecondsAreOver) {
  const Program program = literal_program({op({writes(0)}), op({writes(1)}), op({reads(1)}), op({reads(0)})},
                                          {local(100, 0, 3), local(100, 1, 2)});
  const Gaps gaps(program);
  const Machine machine{.bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000};
  const PlanningProblem problem{program, gaps, machine, 150};
  const std::vector<Choice> choices = find_choices(problem, {});
  const Incumbent start = plan_without(problem, {{0, 0, Action::swap}});
  ASSERT_TRUE(start.feasible());
  const std::vector<OutlivingBlock> none;
  LocalSearch search(problem, choices, none, 1);
  const SearchBudget budget{.evaluations = 1'000'000, .seconds = 1e-6};
  EXPECT_LE(search.improve(start, 0.3, budget).step.step_time, start.step.step_time);
  EXPECT_LT(search.evaluations(), 10'000);
  EXPECT_LT(search.spent(), 0.01);
}

//   op      0  1  2  3 large  4  5  6   At op 3 either a has to be away or both b and c. These are at first,
//   a  200  W           ·           R   and dear to make again: a is not. Taking one of them back leaves too
//   b  100     W        ·     R         little room.
//   c  100        W     ·        R
TEST(LocalSearch, ExchangesALargeBlockForSmallOnes) {
  std::vector<Op> ops = {op({writes(0)}, 10), op({writes(1)}, 90), op({writes(2)}, 90), op({writes(3)}, 50),
                         op({reads(1)}),      op({reads(2)}),      op({reads(0)})};
  const Program program =
      literal_program(ops, {local(200, 0, 6), local(100, 1, 4), local(100, 2, 5), local(200, 3, 3)});
  const Gaps gaps(program);
  const Machine machine{.bandwidth_out = 1'000'000, .bandwidth_in = 1'000'000};
  const PlanningProblem problem{program, gaps, machine, 400};
  PlannerOptions options;
  options.allow_swap = false;
  const std::vector<Choice> choices = find_choices(problem, options);
  const Incumbent start = plan_without(problem, {{1, 1, Action::recompute}, {2, 2, Action::recompute}});
  ASSERT_TRUE(start.feasible());
  const std::vector<OutlivingBlock> none;
  LocalSearch search(problem, choices, none, 1);
  const Incumbent found = search.improve(start, 0.3, {.evaluations = 200});
  EXPECT_EQ(found.step.step_time, start.step.step_time - 170);
}

}  // namespace
}  // namespace ebb
