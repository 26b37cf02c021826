#include "runtime/recorder.h"

#include <gtest/gtest.h>

#include "trace/block_history.h"

namespace ebb {
namespace {

TEST(Recorder, WritesDownWhatAProgramDoes) {
  Recorder recorder(100);
  recorder.malloc(7, 100);
  const RecordedAccess accesses[] = {{.block = 7, .reads = true}, {.block = 9, .writes = true}};
  const RecordedMemory memory[] = {{8, 64, true}, {9, 32, true}, {.block = 8}};
  const std::int64_t op =
      recorder.exec({.name = "f", .replayable = true, .accesses = accesses, .memory = memory});
  recorder.set_duration(op, 1234);
  recorder.free(7);
  recorder.free(9);
  const Trace& trace = recorder.trace();
  ASSERT_EQ(trace.events.size(), 4u);
  EXPECT_EQ(trace.events[1].duration, 1234);
  EXPECT_EQ(trace.exec_of(1).name, "f");
  EXPECT_EQ(trace.accesses_of(1)[1], (Access{.block = 2, .writes = true}));
  EXPECT_EQ(trace.memory_of(1)[0], (MemoryEvent{.block = 1, .bytes = 64, .is_malloc = true}));
  EXPECT_EQ(block_histories(trace, "test")[2].freed, 3u);
}

TEST(Recorder, ForgetsTheOlderHalfAndStaysATrace) {
  Recorder recorder(50);
  recorder.malloc(1, 1000);
  Handle next = 2;
  std::int64_t last = 0;
  for (int i = 0; i < 500; ++i) {
    const Handle born = next++;
    const RecordedAccess accesses[] = {{.block = 1, .reads = true}, {.block = born, .writes = true}};
    const RecordedMemory memory[] = {{born, 10, true}};
    last = recorder.exec({.name = "f", .accesses = accesses, .memory = memory});
    recorder.set_duration(last, i);
    if (i % 3) recorder.free(born);
    block_histories(recorder.trace(), "test");
  }
  EXPECT_EQ(recorder.trace().names, std::vector<std::string>{"f"});
  std::size_t execs = 0;
  for (const auto& event : recorder.trace().events) execs += event.kind == EventKind::exec;
  EXPECT_GT(execs, 10u);
  recorder.set_duration(0, 5);  // long forgotten: nothing happens
  recorder.set_duration(last, 777);
  Nanoseconds longest = 0;
  for (const auto& event : recorder.trace().events) longest = std::max(longest, event.duration);
  EXPECT_EQ(longest, 777);
}

TEST(Recorder, KnowsAfterAPauseWhoLives) {
  Recorder recorder(100);
  BlockTable blocks;
  const Handle stays = blocks.create(100).handle;
  const Handle dies = blocks.create(200).handle;
  const Handle freed = blocks.create(300).handle;
  for (const Handle block : {stays, dies, freed}) recorder.malloc(block, blocks.find(block)->bytes);
  recorder.pause();
  blocks.erase(*blocks.find(dies));
  recorder.free(dies);
  blocks.find(freed)->freed = true;  // its bytes stay for somebody
  const Handle born = blocks.create(400).handle;
  recorder.malloc(born, 400);
  EXPECT_EQ(recorder.exec({.name = "unseen"}), Recorder::kUnrecorded);
  recorder.set_duration(Recorder::kUnrecorded, 5);
  EXPECT_EQ(recorder.trace().events.size(), 3u);

  recorder.resume(blocks);
  recorder.resume(blocks);
  const RecordedAccess accesses[] = {{.block = stays, .reads = true}, {.block = born, .writes = true}};
  recorder.exec({.name = "seen", .accesses = accesses});
  const Trace& trace = recorder.trace();
  ASSERT_EQ(trace.events.size(), 7u);
  const auto histories = block_histories(trace, "test");
  ASSERT_EQ(histories.size(), 4u);
  EXPECT_EQ(trace.memory_of(5)[0], (MemoryEvent{.block = 3, .bytes = 400, .is_malloc = true}));
  EXPECT_EQ(trace.accesses_of(6)[1], (Access{.block = 3, .writes = true}));
  EXPECT_EQ(trace.events[6].duration, 0);
}

}  // namespace
}  // namespace ebb
