#include "trace/block_history.h"

#include <gtest/gtest.h>

#include "trace/expect_error.h"
#include "trace/recorder.h"

namespace ebb {
namespace {

using testing::Recorder;

TEST(BlockHistory, TellsBirthAndDeath) {
  Recorder recorder;
  const BlockId a = recorder.malloc(8);
  const BlockId b = recorder.make("op", 16, {a});
  recorder.free(a);
  const auto blocks = block_histories(recorder.trace(), "t");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].bytes, 8);
  EXPECT_EQ(blocks[0].born, 0u);
  EXPECT_EQ(blocks[0].freed, 2u);
  EXPECT_EQ(blocks[static_cast<std::size_t>(b)].born, 1u);
  EXPECT_EQ(blocks[static_cast<std::size_t>(b)].freed, kNever);
}

TEST(BlockHistory, LetsAnOpUseWhatItMallocsAndFrees) {
  Recorder recorder;
  const BlockId id = recorder.next_id();
  const std::vector<Access> accesses = {{.block = id, .writes = true}};
  const std::vector<MemoryEvent> memory = {{.block = id, .bytes = 8, .is_malloc = true}, {.block = id}};
  recorder.exec({.name = "op", .accesses = accesses, .memory = memory});
  EXPECT_EQ(block_histories(recorder.trace(), "t")[0].freed_place, 1u);
}

TEST(BlockHistory, NamesTheEventThatMakesNoSense) {
  const auto error_of = [](auto record, std::initializer_list<std::string> parts) {
    Recorder recorder;
    const BlockId a = recorder.malloc(8);
    record(recorder, a);
    testing::expect_error<InputError>([&] { block_histories(recorder.trace(), "t"); }, parts);
  };
  error_of([](Recorder& r, BlockId) { r.op("o", {5}, {}); },
           {"t: event 1 'o' reads block 5", "never malloc'd"});
  error_of([](Recorder& r, BlockId) { r.op("o", {-5}, {}); }, {"t: event 1 'o' reads block -5"});
  error_of([](Recorder& r, BlockId a) { r.free(a), r.op("o", {}, {a}); },
           {"event 2 'o' writes block 0", "event 1 freed"});
  error_of([](Recorder& r, BlockId a) { r.free(a), r.free(a); },
           {"event 2 'free' frees block 0", "event 1 freed"});
  error_of([](Recorder& r, BlockId) { r.malloc(-1); }, {"event 1 'malloc'", "size: -1"});
  error_of([](Recorder& r, BlockId) { r.malloc(Bytes{1} << 61); }, {"event 1 'malloc'", "size"});
  error_of([](Recorder& r, BlockId) { r.malloc(Bytes{1} << 60); }, {"event 1 'malloc'", "2^60"});
  error_of([](Recorder& r, BlockId) { r.exec({.name = "o", .duration = -1}); },
           {"event 1 'o'", "duration: -1"});
  error_of([](Recorder& r, BlockId) { r.exec({.name = "o", .workspace = -1}); },
           {"event 1 'o'", "workspace: -1"});
  error_of(
      [](Recorder& r, BlockId a) {
        const std::vector<MemoryEvent> memory = {{.block = a, .bytes = 8, .is_malloc = true}};
        r.exec({.name = "o", .memory = memory});
      },
      {"event 1 'o' mallocs block 0", "event 0"});
  error_of(
      [](Recorder& r, BlockId) {
        const std::vector<MemoryEvent> memory = {{.block = 2'000'000'000, .bytes = 8, .is_malloc = true}};
        r.exec({.name = "o", .memory = memory});
      },
      {"event 1 'o' mallocs block 2000000000 after 1 mallocs"});
  error_of(
      [](Recorder& r, BlockId) {
        const std::vector<MemoryEvent> memory = {{.block = 7}, {.block = 7, .bytes = 8, .is_malloc = true}};
        r.exec({.name = "o", .memory = memory});
      },
      {"event 1 'o' frees block 7 before its malloc"});
}

}  // namespace
}  // namespace ebb
