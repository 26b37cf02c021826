#include "report/kinds.h"

#include <gtest/gtest.h>

#include "literal_programs.h"

namespace ebb::report {
namespace {

// Two layers forward and backward, and an update with momentum.
//
//   op       0 f1   1 f2   2 b2   3 b1   4 momentum   5 step
//   block 0  R                    R                   W       weight
//   block 1         R      R                          W       weight
//   block 2  W      R             R                           activation
//   block 3         W      R                                  activation
//   block 4                W      .      R            R       gradient of 1
//   block 5                       W      R            R       gradient of 0
//   block 6                              RW           R       momentum
//   block 7                              W            R       temporary of the update
Program training_step(bool with_phases) {
  Program program = literal_program(
      {op({reads(0), writes(2)}), op({reads(1), reads(2), writes(3)}), op({reads(1), reads(3), writes(4)}),
       op({reads(0), reads(2), writes(5)}), op({reads(4), reads(5), updates(6), writes(7)}),
       op({updates(0), updates(1), reads(4), reads(5), reads(6), reads(7)})},
      {persistent(10), persistent(10), local(20, 0, 3), local(20, 1, 2), local(10, 2, 5), local(10, 3, 5),
       persistent(10), local(5, 4, 5)});
  if (!with_phases) return program;
  std::vector<Op> ops = program.ops();
  const Phase phases[] = {Phase::forward,  Phase::forward, Phase::backward,
                          Phase::backward, Phase::update,  Phase::update};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].phase = phases[i];
  return literal_program(ops, program.blocks());
}

const std::vector<MemoryKind> kExpected = {
    MemoryKind::weights,   MemoryKind::weights,   MemoryKind::activations, MemoryKind::activations,
    MemoryKind::gradients, MemoryKind::gradients, MemoryKind::optimizer,   MemoryKind::workspace};

TEST(Kinds, FollowFromRecordedPhases) {
  const Program program = training_step(true);
  EXPECT_EQ(kinds_of(program, phases_of(program)), kExpected);
}

TEST(Kinds, FollowFromTheOrderOfUsesWhereNoPhaseWasRecorded) {
  const Program program = training_step(false);
  const auto phases = phases_of(program);
  EXPECT_EQ(phases, phases_of(training_step(true)));
  EXPECT_EQ(kinds_of(program, phases), kExpected);
}

TEST(Kinds, AnUpdateMayLieAcrossTheBoundary) {
  // The same ring, begun at op 5.
  const Program program =
      literal_program({op({updates(0), reads(1), reads(2)}), op({reads(0), writes(3)}),
                       op({reads(3), writes(1)}), op({reads(1), updates(2)})},
                      {persistent(10), wrapping(10, 2, 0), persistent(10), local(20, 1, 2)});
  const std::vector<Phase> expected = {Phase::update, Phase::forward, Phase::backward, Phase::update};
  EXPECT_EQ(phases_of(program), expected);
}

// Gradients that persist: zeroed, accumulated in backward, read by the update.
TEST(Kinds, NamesTellBackwardFromAnUpdateWhereGradientsPersist) {
  std::vector<Op> ops = {op({writes(1)}),
                         op({reads(0), writes(2)}),
                         op({reads(0), reads(2), writes(3)}),
                         op({reads(3), updates(1)}),
                         op({reads(0), reads(2), writes(4)}),
                         op({reads(1), updates(5)}),
                         op({updates(0), reads(5)})};
  const char* names[] = {"zero_", "convolution", "convolution_backward", "add_", "convolution_backward",
                         "mul_",  "add_"};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].name = names[i];
  const Program program = literal_program(ops, {persistent(10), persistent(10), local(20, 1, 4),
                                                local(10, 2, 3), local(10, 4, 4), persistent(10)});
  const auto phases = phases_of(program);
  EXPECT_EQ(phases, (std::vector<Phase>{Phase::forward, Phase::forward, Phase::backward, Phase::backward,
                                        Phase::backward, Phase::update, Phase::update}));
  EXPECT_EQ(kinds_of(program, phases),
            (std::vector<MemoryKind>{MemoryKind::weights, MemoryKind::gradients, MemoryKind::activations,
                                     MemoryKind::gradients, MemoryKind::gradients, MemoryKind::optimizer}));
}

TEST(Kinds, WhereNothingPersistsNothingIsTold) {
  const Program program = literal_program({op({writes(0)}), op({reads(0)})}, {local(8, 0, 1)});
  EXPECT_EQ(phases_of(program), (std::vector<Phase>{Phase::unknown, Phase::unknown}));
  EXPECT_EQ(kinds_of(program, phases_of(program)), std::vector<MemoryKind>{MemoryKind::activations});
}

}  // namespace
}  // namespace ebb::report
