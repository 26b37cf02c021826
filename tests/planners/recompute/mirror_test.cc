#include "planners/recompute/mirror.h"

#include <gtest/gtest.h>

#include "chain_programs.h"
#include "planners/judge.h"
#include "trace/error.h"

namespace ebb {
namespace {

using Stays = std::optional<std::vector<OpRange>>;

struct Chain {
  explicit Chain(int layers) : program(chain_program(layers)) {}
  Program program;
  Gaps gaps{program};
  Machine machine = any_machine();
  Plan mirror(MirrorCounts counts) { return Mirror(program, gaps).plan(std::move(counts)); }
  // The decision about the result of a layer over the turn.
  const Decision& of(const Plan& plan, BlockId layer) const { return plan[gaps.find(layer, layer + 1)]; }
  JudgedPlan judged(const Plan& plan, Bytes limit = 10'000) const {
    return judge({program, gaps, machine, limit}, plan);
  }
};

TEST(Mirror, CountsOfZeroKeepEverything) {
  Chain chain(5);
  EXPECT_EQ(chain.mirror({0, 0, 0, 0, 0}), Plan::keep_all(chain.gaps));
}

TEST(Mirror, ACountOfOneDropsAResultUntilBackwardNeedsIt) {
  Chain chain(5);
  const Plan plan = chain.mirror({0, 1, 0, 0, 0});
  EXPECT_EQ(chain.of(plan, 0).action, Action::keep);
  EXPECT_EQ(chain.of(plan, 1), (Decision{.action = Action::recompute, .stays = Stays{std::in_place}}));
  EXPECT_EQ(chain.of(plan, 2).action, Action::keep);
  EXPECT_EQ(chain.judged(plan).step.step_time, 100 + 10);
}

// Backward of layer 3, at position 6, needs result 3 and with it 2 and 1; those stay for their own backward.
TEST(Mirror, AStageRunsAgainOnceAndItsResultsStayUntilTheirUse) {
  Chain chain(5);
  const Plan plan = chain.mirror({0, 1, 1, 1, 0});
  EXPECT_EQ(chain.of(plan, 3).stays, Stays(std::in_place));
  EXPECT_EQ(chain.of(plan, 2).stays, (Stays{{{6, 7}}}));
  EXPECT_EQ(chain.of(plan, 1).stays, (Stays{{{6, 8}}}));
  const JudgedPlan judged = chain.judged(plan);
  EXPECT_EQ(judged.step.step_time, 100 + 30);
  EXPECT_TRUE(judged.violations.empty());
}

// Layers 0 … 6: result 3 is made again once and is there for the second copies of 5 and 4; results before it
// are made on the way at position 8 and then again at position 11.
TEST(Mirror, CountsOfTwoRunStagesOfStages) {
  Chain chain(7);
  const Plan plan = chain.mirror({0, 2, 2, 1, 2, 2, 0});
  EXPECT_EQ(chain.of(plan, 5).stays, Stays(std::in_place));
  EXPECT_EQ(chain.of(plan, 4).stays, (Stays{{{8, 9}}}));
  EXPECT_EQ(chain.of(plan, 3).stays, (Stays{{{8, 10}}}));
  EXPECT_EQ(chain.of(plan, 2).stays, Stays(std::in_place));
  EXPECT_EQ(chain.of(plan, 1).stays, (Stays{{{11, 12}}}));
  const JudgedPlan judged = chain.judged(plan);
  EXPECT_EQ(judged.step.step_time, 140 + 50 + 20);
  EXPECT_TRUE(judged.violations.empty());
}

// Op 1 makes a result that only op 2 reads; it dies there. Op 2's result is read by op 4.
TEST(Mirror, AKeptResultThatDiesInForwardStaysForTheReplayThatReadsIt) {
  std::vector<Op> ops = {op({writes(0)}), op({reads(0), writes(1)}), op({reads(1), writes(2)}),
                         op({writes(3)}), op({reads(2)})};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].phase = i < 3 ? Phase::forward : Phase::backward;
  const Program program = literal_program(
      std::move(ops), {local(100, 0, 1), local(100, 1, 2), local(100, 2, 4), local(100, 3, 3)});
  const Gaps gaps(program);
  const Plan plan = Mirror(program, gaps).plan({1, 0, 1});
  EXPECT_EQ(plan[gaps.find(2, 2)], (Decision{.action = Action::recompute, .stays = Stays{std::in_place}}));
  EXPECT_EQ(plan[gaps.find(1, 2)].stays, (Stays{{{3, 5}}}));
  const Machine machine = any_machine();
  const JudgedPlan judged = judge({program, gaps, machine, 1000}, plan);
  EXPECT_EQ(judged.step.step_time, 50 + 10);
  EXPECT_TRUE(judged.violations.empty());
}

// Ops 1 and 2 read a result that dies in forward. Position 4 makes it for op 2's result, and it is still
// there when position 5 makes op 1's.
TEST(Mirror, ACopyOfADeadResultStaysUntilItsLastReader) {
  std::vector<Op> ops = {
      op({writes(0)}), op({reads(0), writes(1)}), op({reads(0), writes(2)}), op({writes(3)}), op({reads(2)}),
      op({reads(1)})};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].phase = i < 3 ? Phase::forward : Phase::backward;
  const Program program = literal_program(
      std::move(ops), {local(100, 0, 2), local(100, 1, 5), local(100, 2, 4), local(100, 3, 3)});
  const Gaps gaps(program);
  const Plan plan = Mirror(program, gaps).plan({1, 1, 1});
  EXPECT_EQ(plan[gaps.find(0, 2)].stays, (Stays{{{4, 6}}}));
  const Machine machine = any_machine();
  const JudgedPlan judged = judge({program, gaps, machine, 1000}, plan);
  EXPECT_EQ(judged.step.step_time, 60 + 30);
  EXPECT_TRUE(judged.violations.empty());
}

// Op 1 changes result 0 in place: to make it again, op 0 has to run too.
TEST(Mirror, WhatIsChangedInPlaceIsMadeAgainFromTheStart) {
  std::vector<Op> ops = {op({writes(0)}), op({updates(0)}), op({writes(1)}), op({reads(0)})};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].phase = i < 2 ? Phase::forward : Phase::backward;
  const Program program = literal_program(std::move(ops), {local(100, 0, 3), local(100, 2, 2)});
  const Gaps gaps(program);
  const Plan plan = Mirror(program, gaps).plan({0, 1});
  EXPECT_EQ(plan[gaps.find(0, 1)].action, Action::recompute);
  const Machine machine = any_machine();
  EXPECT_EQ(judge({program, gaps, machine, 1000}, plan).step.step_time, 40 + 20);
}

TEST(MirrorFile, RulesNameOpsByIndexByNameOrAll) {
  std::vector<Op> ops = {op({updates(0)}), op({updates(0)}), op({updates(0)})};
  ops[1].name = "relu";
  const Program program = literal_program(std::move(ops), {persistent(8)});
  EXPECT_EQ(parse_mirror_counts("* 1  # all\n\nrelu 2\n0 0\n", "f", program), (MirrorCounts{0, 2, 1}));
}

TEST(MirrorFile, AMistakeIsNamedByItsLine) {
  const Program program = literal_program({op({updates(0)})}, {persistent(8)});
  for (const char* text : {"* 1\nrelu 1", "* 1\n7 1", "* 1\n0", "* 1\n0 -1", "* 1\n0 1 1", "* 1\n0 x"}) {
    try {
      parse_mirror_counts(text, "counts", program);
      FAIL() << "accepted: " << text;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("counts: line 2: ", 0), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace ebb
