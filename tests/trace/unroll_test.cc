#include "trace/unroll.h"

#include <gtest/gtest.h>

#include "trace/block_history.h"
#include "trace/random_program.h"

namespace ebb {
namespace {

TEST(Unroll, PlaysTheOpsWithFreshIds) {
  const Program program = Program::build(
      {.name = "p", .unmanaged = 3, .measured_step = 100},
      {{.name = "a", .duration = 10, .accesses = {{.block = 0, .reads = true}, {.block = 1, .writes = true}}},
       {.name = "b", .issue = 7, .accesses = {{.block = 1, .reads = true}}}},
      {{.bytes = 8, .lifetime = Lifetime::persistent}, {.bytes = 16, .birth = 0, .death = 1}});
  const Trace trace = unroll(program, 2);
  EXPECT_EQ(trace.name, "p");
  EXPECT_EQ(trace.unmanaged, 3);
  ASSERT_EQ(trace.events.size(), 1u + 2 * 3u);  // malloc of the weight; a, b, free, twice
  EXPECT_EQ(trace.accesses_of(1)[1].block, 1);
  EXPECT_EQ(trace.accesses_of(4)[1].block, 2);
  EXPECT_EQ(trace.memory_of(6)[0], (MemoryEvent{.block = 2}));
  EXPECT_EQ(trace.events[5].issue, 107);
}

TEST(Unroll, MakesTracesThatMakeSense) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    EXPECT_NO_THROW(block_histories(unroll(testing::random_program(seed), 3), "t")) << seed;
}

}  // namespace
}  // namespace ebb
