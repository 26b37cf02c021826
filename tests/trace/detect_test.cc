#include "trace/detect.h"

#include <gtest/gtest.h>

#include "trace/files.h"
#include "trace/gzip.h"
#include "trace/import_step.h"
#include "trace/random_program.h"
#include "trace/recorder.h"
#include "trace/unroll.h"

namespace ebb {
namespace {

using testing::Recorder;
using testing::Training;

// The stream after each event count in [from, to): `check(detection)`.
Trace prefix(const Trace& trace, std::size_t events) {
  Trace cut = trace;
  if (events < trace.events.size()) {
    cut.accesses.resize(trace.events[events].first_access);
    cut.memory.resize(trace.events[events].first_memory);
    cut.events.resize(events);
  }
  return cut;
}

std::size_t period_of(const std::function<void(Recorder&, Training&)>& iteration) {
  Recorder recorder;
  Training training(recorder, 4);
  const std::size_t before = recorder.size();
  iteration(recorder, training);
  return recorder.size() - before;
}

// A letter per op; all use one block.
Detection detect_letters(const std::string& letters) {
  Recorder recorder;
  const BlockId data = recorder.malloc(8);
  for (char letter : letters) recorder.op(std::string(1, letter), {data}, {});
  Detection detection = detect_iteration(recorder.trace());
  if (detection.status == DetectStatus::found) --detection.begin, --detection.end;  // the malloc
  return detection;
}

TEST(Detect, DoesWhatThePictureInItsHeaderShows) {
  const Detection three{.status = DetectStatus::found, .begin = 4, .end = 19, .period = 4};
  EXPECT_EQ(detect_letters("wxyzABCDABCDABCDABC"), three);
  const Detection before_x{.status = DetectStatus::found, .begin = 4, .end = 14, .period = 4};
  EXPECT_EQ(detect_letters("wxyzABCDABCDABXABCDA"), before_x);
  EXPECT_EQ(detect_letters("wxyzABCDAB").status, DetectStatus::not_yet);
}

TEST(Detect, FindsTheIterationAfterAWarmUp) {
  Recorder recorder;
  Training training(recorder, 5);
  recorder.op("warm up", {}, {});
  const std::size_t begin = recorder.size();
  training.iteration();
  const std::size_t period = recorder.size() - begin;
  for (int i = 0; i < 3; ++i) training.iteration();
  const Detection expected{
      .status = DetectStatus::found, .begin = begin, .end = recorder.size(), .period = period};
  EXPECT_EQ(detect_iteration(recorder.trace()), expected);
  EXPECT_EQ(expected.repeats(), 4u);
}

TEST(Detect, SaysNotYetUntilTwoRepeatsWereSeen) {
  Recorder recorder;
  Training training(recorder, 5);
  const std::size_t begin = recorder.size();
  training.iteration();
  const std::size_t period = recorder.size() - begin;
  training.iteration();
  training.iteration();
  for (std::size_t events = 0; events <= recorder.size(); ++events) {
    const Detection detection = detect_iteration(prefix(recorder.trace(), events));
    if (events < begin + 2 * period) {
      EXPECT_EQ(detection.status, DetectStatus::not_yet) << events;
    } else {
      EXPECT_EQ(detection.status, DetectStatus::found) << events;
      EXPECT_EQ(detection.period, period) << events;
    }
  }
}

TEST(Detect, WaitsForAsManyRepeatsAsAskedFor) {
  Recorder recorder;
  Training training(recorder, 3);
  for (int i = 0; i < 4; ++i) training.iteration();
  EXPECT_EQ(detect_iteration(recorder.trace(), {.repeats = 5}).status, DetectStatus::not_yet);
  EXPECT_EQ(detect_iteration(recorder.trace(), {.repeats = 4}).status, DetectStatus::found);
}

TEST(Detect, PrefersTheIterationToItsTimeSteps) {
  // 64 equal steps forward, 64 back, one update: an unrolled recurrent network.
  Recorder recorder;
  const BlockId weight = recorder.malloc(4096), input = recorder.malloc(512);
  const auto iteration = [&] {
    std::vector<BlockId> states = {input};
    for (int t = 0; t < 64; ++t) states.push_back(recorder.make("step", 256, {weight, states.back()}));
    const BlockId gradient = recorder.make("zeros", 4096, {});
    for (int t = 64; t > 0; --t) {
      recorder.op("step_backward", {weight, states[static_cast<std::size_t>(t)]}, {gradient});
      recorder.free(states[static_cast<std::size_t>(t)]);
    }
    recorder.op("sgd", {gradient}, {weight});
    recorder.free(gradient);
  };
  const std::size_t begin = recorder.size();
  iteration();
  const std::size_t period = recorder.size() - begin;
  for (int i = 0; i < 3; ++i) iteration();
  for (std::size_t events = 0; events <= recorder.size(); events += 5) {
    const Detection detection = detect_iteration(prefix(recorder.trace(), events));
    if (events < begin + 2 * period) {
      EXPECT_EQ(detection.status, DetectStatus::not_yet) << events;
    } else {
      EXPECT_EQ(detection.period, period) << events;
    }
  }
}

TEST(Detect, GivesTheWholeOfAccumulatedMicroBatches) {
  Recorder recorder;
  Training training(recorder, 4);
  const std::size_t begin = recorder.size();
  training.iteration(8);
  const std::size_t period = recorder.size() - begin;
  training.iteration(8);
  training.iteration(8);
  for (std::size_t events = begin + 2 * period; events <= recorder.size(); ++events) {
    const Detection detection = detect_iteration(prefix(recorder.trace(), events));
    EXPECT_EQ(detection.period, period) << events;
  }
}

TEST(Detect, FindsAnIterationThatIsOneOp) {
  Recorder recorder;
  const BlockId points = recorder.malloc(1000);
  for (int i = 0; i < 10; ++i) recorder.op("step", {points}, {});
  EXPECT_EQ(detect_iteration(recorder.trace()).period, 1u);
}

TEST(Detect, GivesTheDoubleIterationIfBuffersAlternate) {
  Recorder recorder;
  const BlockId even = recorder.malloc(1000), odd = recorder.malloc(1000);
  for (int i = 0; i < 9; ++i) {
    recorder.op("load", {}, {i % 2 == 0 ? even : odd});
    recorder.op("use", {i % 2 == 0 ? even : odd}, {});
  }
  EXPECT_EQ(detect_iteration(recorder.trace()).period, 4u);
}

TEST(Detect, KeepsTheIterationThroughADeviation) {
  Recorder recorder;
  Training training(recorder, 4);
  for (int i = 0; i < 5; ++i) training.iteration();
  const std::size_t before = recorder.size();
  recorder.op("log", {}, {});
  training.evaluation();
  const std::size_t after = recorder.size();
  for (int i = 0; i < 4; ++i) training.iteration();
  const std::size_t period = period_of([](Recorder&, Training& t) { t.iteration(); });
  for (std::size_t events = before; events <= recorder.size(); ++events) {
    const bool in_doubt = events > before + period && events < after + period;
    const Detection detection = detect_iteration(prefix(recorder.trace(), events));
    if (in_doubt) continue;
    EXPECT_EQ(detection.status, DetectStatus::found) << events;
    EXPECT_EQ(detection.period, period) << events;
  }
}

TEST(Detect, KeepsTheWholeThroughADeviationThoughTheTailIsAnInnerRepeat) {
  Recorder recorder;
  Training training(recorder, 4);
  for (int i = 0; i < 6; ++i) training.iteration(6);
  training.evaluation();
  training.iteration(6);
  for (int i = 0; i < 3; ++i) training.forward_backward();
  const std::size_t period = period_of([](Recorder&, Training& t) { t.iteration(6); });
  EXPECT_EQ(detect_iteration(recorder.trace()).period, period);
}

TEST(Detect, OverlooksALogLineEveryFewIterations) {
  Recorder recorder;
  Training training(recorder, 6);
  const BlockId loss = recorder.malloc(4);
  for (int i = 0; i < 33; ++i) {
    training.iteration();
    if (i % 10 == 9) recorder.op("log", {loss}, {});
  }
  const Detection detection = detect_iteration(recorder.trace());
  EXPECT_EQ(detection.status, DetectStatus::found);
  Recorder other;
  Training once(other, 6);
  const std::size_t before = other.size();
  once.iteration();
  EXPECT_EQ(detection.period, other.size() - before);
}

TEST(Detect, FollowsAChangeForGood) {
  Recorder recorder;
  Training small(recorder, 4, 1);
  for (int i = 0; i < 20; ++i) small.iteration();
  Training large(recorder, 4, 7);
  for (int i = 0; i < 3; ++i) large.iteration();
  const std::size_t period = period_of([](Recorder&, Training& t) { t.iteration(); });
  const Detection detection = detect_iteration(recorder.trace());
  EXPECT_EQ(detection.period, period);
  EXPECT_EQ(detection.begin, recorder.size() - 3 * period);
}

TEST(Detect, DoesNotTakeTheLoopOfABeginningForAnIteration) {
  Recorder recorder;
  Training training(recorder, 40);
  const BlockId scratch = recorder.malloc(64);
  for (int i = 0; i < 3; ++i) recorder.op("spin", {scratch}, {});
  EXPECT_EQ(detect_iteration(recorder.trace()).status, DetectStatus::not_yet);
}

TEST(Detect, SaysNotPeriodicOnceItsPatienceIsOver) {
  Recorder recorder;
  testing::Dice dice(3);
  const BlockId data = recorder.malloc(1000);
  while (recorder.size() < 2000) recorder.op("op" + std::to_string(dice.between(0, 50)), {data}, {});
  EXPECT_EQ(detect_iteration(recorder.trace()).status, DetectStatus::not_yet);
  EXPECT_EQ(detect_iteration(recorder.trace(), {.patience = 2000}).status, DetectStatus::not_periodic);
}

TEST(Detect, ToleratesASmallLeak) {
  Recorder recorder;
  Training training(recorder, 4, 100);
  for (int i = 0; i < 4; ++i) {
    training.iteration();
    recorder.make("loss kept", 4, {});
  }
  EXPECT_EQ(detect_iteration(recorder.trace()).status, DetectStatus::found);
}

TEST(Detect, FindsWhatWasUnrolled) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Program program = testing::random_program(seed);
    const Trace once = unroll(program, 1), twice = unroll(program, 2), often = unroll(program, 5);
    const std::size_t period = twice.events.size() - once.events.size();
    EXPECT_EQ(detect_iteration(once).status, DetectStatus::not_yet) << seed;
    EXPECT_EQ(detect_iteration(twice).period, period) << seed;
    EXPECT_EQ(detect_iteration(often).period, period) << seed;
    EXPECT_EQ(detect_iteration(often).repeats(), 5u) << seed;
  }
}

// Appends a trace's events with ids and names of their own.
void append(TraceBuilder& builder, const Trace& trace, BlockId first_id) {
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    std::vector<Access> accesses(trace.accesses_of(i).begin(), trace.accesses_of(i).end());
    std::vector<MemoryEvent> memory(trace.memory_of(i).begin(), trace.memory_of(i).end());
    for (Access& access : accesses) access.block += first_id;
    for (MemoryEvent& event : memory) event.block += first_id;
    if (trace.events[i].kind == EventKind::malloc) builder.malloc(memory[0].block, memory[0].bytes);
    if (trace.events[i].kind == EventKind::free) builder.free(memory[0].block);
    if (trace.events[i].kind != EventKind::exec) continue;
    ExecEvent event = trace.exec_of(i);
    event.accesses = accesses;
    event.memory = memory;
    builder.exec(event);
  }
}

TEST(Detect, FindsTheIterationBehindAnotherOne) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Program before = testing::random_program(seed), after = testing::random_program(seed + 1000);
    Trace trace;
    TraceBuilder builder(trace);
    append(builder, unroll(before, 4), 0);
    append(builder, unroll(after, 40), 1000);
    const std::size_t period = unroll(after, 2).events.size() - unroll(after, 1).events.size();
    EXPECT_EQ(detect_iteration(trace).period, period) << seed;
  }
}

TEST(Detect, FindsTheIterationBetweenRandomDeviations) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    testing::Dice dice(seed);
    Recorder recorder;
    Training training(recorder, dice.between(1, 6));
    const int warm_up = dice.between(0, 50);
    for (int i = 0; i < warm_up; ++i) recorder.op("warm up " + std::to_string(dice.between(0, 9)), {}, {});
    const std::size_t begin = recorder.size();
    training.iteration();
    const std::size_t period = recorder.size() - begin;
    for (int stretch = dice.between(1, 5); stretch > 0; --stretch) {
      for (int i = dice.between(8, 20); i > 0; --i) training.iteration();
      for (int i = dice.between(1, 3); i > 0; --i)
        recorder.op("deviation " + std::to_string(stretch), {}, {});
    }
    training.iteration();
    const Detection detection = detect_iteration(recorder.trace());
    EXPECT_EQ(detection.status, DetectStatus::found) << seed;
    EXPECT_EQ(detection.period, period) << seed;
  }
}

TEST(Detect, FindsNothingInRandomStreams) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    testing::Dice dice(seed);
    Recorder recorder;
    const BlockId data = recorder.malloc(8);
    for (int i = 0; i < 3000; ++i) recorder.op(std::to_string(dice.between(0, 3)), {data}, {});
    EXPECT_EQ(detect_iteration(recorder.trace()).status, DetectStatus::not_yet) << seed;
  }
}

TEST(Detect, NeverGuessesInsideAStep) {
  for (const char* name : {"resnet50", "gpt2", "unet", "vgg16"}) {
    const std::string path = testing::bundled(std::string(name) + ".json.gz");
    const Program program = import_step(read_maybe_gzipped(path), path);
    const std::size_t once = unroll(program, 1).events.size();
    const Trace trace = unroll(program, 3);
    const std::size_t period = unroll(program, 2).events.size() - once, prologue = once - period;
    for (std::size_t part = 1; part <= 30; ++part) {
      const std::size_t events = prologue + part * period / 10;
      const Detection detection = detect_iteration(prefix(trace, events));
      EXPECT_EQ(detection.status, part < 20 ? DetectStatus::not_yet : DetectStatus::found)
          << name << " " << part;
      if (part >= 20) {
        EXPECT_EQ(detection.period, period) << name << " " << part;
      }
    }
  }
}

TEST(Detect, FindsTheStepsOfTheBundledTraces) {
  for (const char* name : {"resnet50", "gpt2", "unet", "vgg16"}) {
    const std::string path = testing::bundled(std::string(name) + ".json.gz");
    const Program program = import_step(read_maybe_gzipped(path), path);
    const std::size_t once = unroll(program, 1).events.size();
    const Trace trace = unroll(program, 4);
    const Detection detection = detect_iteration(trace);
    EXPECT_EQ(detection.status, DetectStatus::found) << name;
    EXPECT_EQ(detection.period, unroll(program, 2).events.size() - once) << name;
    EXPECT_EQ(detect_iteration(prefix(trace, once + detection.period / 2)).status, DetectStatus::not_yet)
        << name;
  }
}

}  // namespace
}  // namespace ebb
