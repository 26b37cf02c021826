#include "plan/turn.h"

#include <gtest/gtest.h>

#include "literal_programs.h"

namespace ebb {
namespace {

Op named(std::string name, Phase phase) {
  Op result = op({updates(0)});
  result.name = std::move(name);
  result.phase = phase;
  return result;
}

TEST(Turn, IsTheFirstOpOfTheBackwardPhaseWhateverOpsAreCalled) {
  const Program program = literal_program({named("mm", Phase::forward), named("backward", Phase::forward),
                                           named("mm", Phase::backward), named("mm", Phase::backward)},
                                          {persistent(8)});
  EXPECT_EQ(find_turn(program), 2);
}

TEST(Turn, WithoutPhasesIsTheFirstOpWhoseNameSaysBackward) {
  const Program program = literal_program({named("mm", Phase::unknown), named("Add_Backward", Phase::unknown),
                                           named("mm_backward", Phase::unknown)},
                                          {persistent(8)});
  EXPECT_EQ(find_turn(program), 1);
}

TEST(Turn, WithoutEitherComesAfterThePeak) {
  const Program program = literal_program({op({writes(0)}), op({writes(1)}), op({reads(0)}), op({reads(0)})},
                                          {local(8, 0, 3), local(8, 1, 1)});
  EXPECT_EQ(find_turn(program), 2);
}

}  // namespace
}  // namespace ebb
