#include "trace/rotate.h"

#include <gtest/gtest.h>

#include "trace/random_program.h"

namespace ebb {
namespace {

using testing::random_program;

TEST(Rotate, ComesBackAfterAFullTurn) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Program program = random_program(seed);
    const OpIndex first = static_cast<OpIndex>(seed) % program.op_count();
    const Program turned = rotate(program, first);
    const Program back = rotate(turned, (program.op_count() - first) % program.op_count());
    EXPECT_EQ(back.blocks(), program.blocks()) << seed;
    for (OpIndex i = 0; i < program.op_count(); ++i) EXPECT_EQ(back.op(i).name, program.op(i).name) << seed;
  }
}

TEST(Rotate, MovesTheLoadCurveAndKeepsIt) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Program program = random_program(seed);
    const OpIndex first = static_cast<OpIndex>(seed) % program.op_count();
    std::vector<Bytes> load = program.load();
    std::rotate(load.begin(), load.begin() + first, load.end());
    EXPECT_EQ(rotate(program, first).load(), load) << seed;
  }
}

TEST(Rotate, CountsIssueTimesFromTheNewFirstOp) {
  const Program program =
      Program::build({.measured_step = 100},
                     {{.name = "a", .issue = 0}, {.name = "b", .issue = 30}, {.name = "c", .issue = 60}}, {});
  const Program turned = rotate(program, 1);
  EXPECT_EQ(turned.op(0).issue, 0);
  EXPECT_EQ(turned.op(1).issue, 30);
  EXPECT_EQ(turned.op(2).issue, 70);
}

TEST(LeastLoadBoundary, IsWhereTheFewestBytesCross) {
  const Program program =
      Program::build({}, {{.name = "a"}, {.name = "b"}, {.name = "c"}},
                     {{.bytes = 5, .lifetime = Lifetime::wrapping, .birth = 2, .death = 0},
                      {.bytes = 2, .birth = 0, .death = 1}});
  EXPECT_EQ(least_load_boundary(program), 2);
}

TEST(LeastLoadBoundary, PrefersTheEndOfTheUpdate) {
  const Program program = Program::build({},
                                         {{.name = "a", .phase = Phase::update},
                                          {.name = "b", .phase = Phase::update},
                                          {.name = "c", .phase = Phase::forward}},
                                         {});
  EXPECT_EQ(least_load_boundary(program), 2);
}

}  // namespace
}  // namespace ebb
