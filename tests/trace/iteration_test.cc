#include "trace/iteration.h"

#include <gtest/gtest.h>

#include "trace/expect_error.h"
#include "trace/files.h"
#include "trace/fingerprint.h"
#include "trace/gzip.h"
#include "trace/import_step.h"
#include "trace/random_program.h"
#include "trace/recorder.h"
#include "trace/rotate.h"
#include "trace/trace_file.h"
#include "trace/unroll.h"

namespace ebb {
namespace {

using testing::canonical;
using testing::find_op;
using testing::Recorder;

void expect_same_up_to_rotation(const Program& extracted, const Program& original, const std::string& what) {
  const OpIndex first = find_op(original, extracted.op(0).name);
  ASSERT_NE(first, kNoOp) << what;
  const Program expected = canonical(rotate(original, first)), got = canonical(extracted);
  EXPECT_EQ(got.ops(), expected.ops()) << what;
  EXPECT_EQ(got.blocks(), expected.blocks()) << what;
  EXPECT_EQ(got.info().unmanaged, expected.info().unmanaged) << what;
  EXPECT_EQ(got.info().measured_step, expected.info().measured_step) << what;
}

TEST(Iteration, GivesBackAnUnrolledProgram) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Program program = testing::random_program(seed);
    const Trace trace = decode_trace(encode_trace(unroll(program, 2 + static_cast<int>(seed % 3))), "t");
    expect_same_up_to_rotation(iteration_of(trace, "t"), program, "seed " + std::to_string(seed));
  }
}

// The trace of a recorder that starts at event `first`: what is alive then is malloc'd at the beginning.
Trace started_late(const Trace& trace, std::size_t first) {
  Trace late;
  late.name = trace.name;
  late.unmanaged = trace.unmanaged;
  TraceBuilder builder(late);
  const auto blocks = block_histories(trace, "t");
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (blocks[b].born < first && blocks[b].freed >= first)
      builder.malloc(static_cast<BlockId>(b), blocks[b].bytes);
  for (std::size_t i = first; i < trace.events.size(); ++i) {
    switch (trace.events[i].kind) {
      case EventKind::malloc:
        builder.malloc(trace.memory_of(i)[0].block, trace.memory_of(i)[0].bytes);
        break;
      case EventKind::free:
        builder.free(trace.memory_of(i)[0].block);
        break;
      case EventKind::exec:
        builder.exec(trace.exec_of(i));
        break;
    }
  }
  return late;
}

TEST(Iteration, DoesNotDependOnWhereRecordingBegan) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Program program = testing::random_program(seed);
    const Trace trace = unroll(program, 4);
    const std::size_t period = unroll(program, 2).events.size() - unroll(program, 1).events.size();
    const std::size_t prologue = trace.events.size() - 4 * period;
    const Trace late = started_late(trace, prologue + seed % period);
    const Program extracted = iteration_of(late, "t");
    expect_same_up_to_rotation(extracted, program, "seed " + std::to_string(seed));
    EXPECT_EQ(fingerprint(extracted), fingerprint(iteration_of(trace, "t"))) << "seed " << seed;
  }
}

TEST(Iteration, GivesBackTheBundledTraces) {
  for (const char* name : {"resnet50", "gpt2", "unet", "vgg16"}) {
    const std::string path = testing::bundled(std::string(name) + ".json.gz");
    const Program program = import_step(read_maybe_gzipped(path), path);
    const Program extracted = iteration_of(unroll(program, 3), name);
    const Program expected = canonical(rotate(program, least_load_boundary(program))),
                  got = canonical(extracted);
    EXPECT_EQ(got.ops(), expected.ops()) << name;
    EXPECT_EQ(got.blocks(), expected.blocks()) << name;
    EXPECT_EQ(got.peak_demand(), program.peak_demand()) << name;
  }
}

TEST(Iteration, BeginsWhereTheLoadIsLeast) {
  Recorder recorder;
  const BlockId weight = recorder.malloc(100);
  recorder.op("init", {}, {weight});
  for (int i = 0; i < 3; ++i) {
    const BlockId a = recorder.make("a", 8, {weight});
    const BlockId b = recorder.make("b", 8, {a});
    recorder.op("c", {b}, {weight});
    recorder.free(a);
    recorder.free(b);
  }
  const Program program = iteration_of(recorder.trace(), "t");
  EXPECT_EQ(program.op(0).name, "a");
  EXPECT_EQ(program.op_count(), 3);
  EXPECT_EQ(program.load(), (std::vector<Bytes>{108, 116, 116}));
}

TEST(Iteration, GivesMallocsToTheNextOpAndFreesToTheLast) {
  Recorder recorder;
  for (int i = 0; i < 3; ++i) {
    recorder.op("a", {}, {});
    const BlockId b = recorder.malloc(8);
    recorder.op("b", {}, {b});
    recorder.op("c", {b}, {});
    recorder.free(b);
    recorder.free(recorder.malloc(1000));  // gone before any op runs
  }
  const Program program = iteration_of(recorder.trace(), "t");
  const OpIndex b = find_op(program, "b"), c = find_op(program, "c");
  ASSERT_EQ(program.block_count(), 1);
  EXPECT_EQ(program.block(0), (Block{.bytes = 8, .lifetime = Lifetime::local, .birth = b, .death = c}));
  EXPECT_EQ(program.op(b).births, (std::vector<BlockId>{0}));
}

TEST(Iteration, TakesWhatAnOpMallocsForItselfAsWorkspace) {
  Recorder recorder;
  for (int i = 0; i < 3; ++i) {
    const BlockId scratch = recorder.next_id(), result = recorder.next_id();
    const std::vector<Access> accesses = {{.block = result, .writes = true}};
    const std::vector<MemoryEvent> memory = {{.block = scratch, .bytes = 70, .is_malloc = true},
                                             {.block = result, .bytes = 30, .is_malloc = true},
                                             {.block = scratch}};
    recorder.exec({.name = "conv", .accesses = accesses, .memory = memory});
    recorder.exec({.name = "other", .workspace = 5 + i});
    recorder.free(result);
  }
  const Program program = iteration_of(recorder.trace(), "t");
  EXPECT_EQ(program.block_count(), 1);
  EXPECT_EQ(program.op(find_op(program, "conv")).workspace, 70);
  EXPECT_EQ(program.op(find_op(program, "other")).workspace, 7) << "the largest of all repeats";
}

TEST(Iteration, CountsWhatNobodyUsesAsUnmanaged) {
  Recorder recorder;
  recorder.malloc(1000);
  recorder.trace().unmanaged = 7;
  const BlockId weight = recorder.malloc(10);
  for (int i = 0; i < 3; ++i) recorder.op("a", {weight}, {});
  const Program program = iteration_of(recorder.trace(), "t");
  EXPECT_EQ(program.info().unmanaged, 1007);
  EXPECT_EQ(program.block_count(), 1);
}

TEST(Iteration, CountsBlocksThatOutliveAPeriodAsUnmanaged) {
  Recorder recorder;
  std::vector<BlockId> history;
  for (int i = 0; i < 10; ++i) {
    const BlockId big = recorder.make("make", 1000, {});
    history.push_back(recorder.make("remember", 8, {big}));
    if (i >= 2) {
      recorder.op("look back", {history[static_cast<std::size_t>(i - 2)]}, {});
      recorder.free(history[static_cast<std::size_t>(i - 2)]);
    }
    recorder.free(big);
  }
  const Program program = iteration_of(recorder.trace(), "t");
  EXPECT_EQ(program.op_count(), 3);
  EXPECT_EQ(program.block_count(), 1);
  EXPECT_EQ(program.info().unmanaged, 3 * 8);
  EXPECT_FALSE(program.op(find_op(program, "look back")).replayable);
  EXPECT_TRUE(program.op(find_op(program, "make")).replayable);
}

TEST(Iteration, TakesTheMedianOfTheRepeats) {
  Recorder recorder;
  const BlockId data = recorder.malloc(8);
  const std::vector<Access> accesses = {{.block = data, .reads = true}};
  const Nanoseconds durations[] = {900, 10, 30, 20, 25};
  for (int i = 0; i < 5; ++i) {
    recorder.exec({.name = "a",
                   .phase = Phase::forward,
                   .duration = durations[i],
                   .issue = 1000 * i + 50,
                   .accesses = accesses});
    recorder.exec({.name = "b",
                   .phase = Phase::update,
                   .duration = 1,
                   .issue = 1000 * i + 80 + i,
                   .accesses = accesses});
  }
  const Program program = iteration_of(recorder.trace(), "t");
  EXPECT_EQ(program.op(0).name, "a") << "begins where the update ends";
  EXPECT_EQ(program.op(0).duration, 25);
  EXPECT_EQ(program.op(0).issue, 0);
  EXPECT_EQ(program.op(1).issue, 32);
  EXPECT_EQ(program.info().measured_step, 1000);
}

TEST(Iteration, SaysWhyThereIsNone) {
  Recorder recorder;
  recorder.op("a", {}, {});
  EXPECT_INPUT_ERROR(iteration_of(recorder.trace(), "f.trace"), "f.trace", "1 events",
                     "not enough repeats yet");
  EXPECT_INPUT_ERROR(iteration_of(recorder.trace(), "f.trace", {.patience = 1}), "f.trace", "not periodic");
  Recorder idle;
  for (int i = 0; i < 4; ++i) idle.free(idle.malloc(8));
  EXPECT_INPUT_ERROR(iteration_of(idle.trace(), "f.trace"), "f.trace", "holds no ops");
}

}  // namespace
}  // namespace ebb
