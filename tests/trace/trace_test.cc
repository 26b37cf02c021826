#include "trace/trace.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

TEST(TraceBuilder, KeepsEventsWithTheirAccessesAndMemory) {
  Trace trace;
  TraceBuilder builder(trace);
  const std::vector<Access> accesses = {{.block = 0, .reads = true}, {.block = 1, .writes = true}};
  const std::vector<MemoryEvent> memory = {{.block = 1, .bytes = 16, .is_malloc = true}};
  builder.malloc(0, 8);
  builder.exec({.name = "a", .duration = 5, .accesses = accesses, .memory = memory});
  builder.free(0);
  builder.exec({.name = "b"});
  builder.exec({.name = "a"});

  ASSERT_EQ(trace.events.size(), 5u);
  EXPECT_EQ(trace.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(trace.accesses_of(0).size(), 0u);
  EXPECT_EQ(trace.accesses_of(1).size(), 2u);
  EXPECT_EQ(trace.memory_of(0)[0], (MemoryEvent{.block = 0, .bytes = 8, .is_malloc = true}));
  EXPECT_EQ(trace.memory_of(1)[0], memory[0]);
  EXPECT_EQ(trace.memory_of(2)[0], (MemoryEvent{.block = 0}));
  EXPECT_EQ(trace.memory_of(4).size(), 0u);
  EXPECT_EQ(trace.exec_of(1).name, "a");
  EXPECT_EQ(trace.exec_of(1).duration, 5);
}

}  // namespace
}  // namespace ebb
