// A step as predicted and as followed, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "runtime/program_runner.h"
#include "runtime/virtual_backend.h"

namespace ebb::testing {
namespace {

constexpr Bytes kPiece = 512;

Program timed_chain(int layers) {
  std::vector<Block> blocks;
  std::vector<Op> ops(static_cast<std::size_t>(2 * layers));
  for (int i = 0; i < layers; ++i) blocks.push_back({.bytes = 4, .lifetime = Lifetime::persistent});
  for (int i = 0; i < layers; ++i) blocks.push_back({.bytes = 64, .birth = i, .death = 2 * layers - 1 - i});
  for (int i = 0; i < layers; ++i) {
    const BlockId weight = i, act = layers + i;
    Op& forward = ops[static_cast<std::size_t>(i)];
    Op& backward = ops[static_cast<std::size_t>(2 * layers - 1 - i)];
    forward = {.name = "forward" + std::to_string(i), .duration = 1'000'000 + 37'000 * (i % 5)};
    forward.accesses = {{.block = weight, .reads = true}, {.block = act, .writes = true}};
    if (i > 0) forward.accesses.push_back({.block = act - 1, .reads = true});
    backward = {.name = "backward" + std::to_string(i), .duration = 2'000'000 + 53'000 * (i % 7)};
    backward.accesses = {{.block = act, .reads = true}, {.block = weight, .reads = true, .writes = true}};
  }
  return Program::build({.name = "chain"}, std::move(ops), std::move(blocks));
}

std::int64_t planned_replays(const Device& device) {
  const std::optional<StepComparison> comparison = device.comparison();
  if (!comparison) return 0;
  const std::vector<Span>& spans = comparison->predicted.spans;
  return std::count_if(spans.begin(), spans.end(), [](const Span& span) { return span.replay; });
}

class Prediction : public ::testing::TestWithParam<std::string> {};

TEST_P(Prediction, IsWithinFivePercentOfWhatIsFollowed) {
  const Program program = timed_chain(12);
  const Machine machine{.name = "virtual",
                        .bandwidth_out = 25'000'000,
                        .bandwidth_in = 30'000'000,
                        .latency_out = 5'000,
                        .latency_in = 5'000};
  int planned = 0;
  for (const int percent : {120, 80, 65, 50}) {
    VirtualBackend backend(machine);
    Device device(backend, {.limit = program.peak_demand() * kPiece * percent / 100,
                            .mode = Mode::planned,
                            .allow_recompute = true,
                            .smallest_managed = 1,
                            .host_slab = 256 * kKiB,
                            .planner = GetParam(),
                            .machine = machine,
                            .planning_seconds = 0.3});
    ProgramRunner runner(device, program,
                         {.unit = kPiece, .work = [&](OpIndex i) { backend.work(program.op(i).duration); }});
    if (!run_until_planned(runner, device, 60)) continue;  // the planner has none for this limit
    ++planned;
    runner.iterate();
    const std::int64_t displaced = device.statistics().displaced;
    for (int i = 0; i < 5; ++i) runner.iterate();
    EXPECT_EQ(runner.wrong_reads(), 0);
    // Plans of others may want a place while a copy from it still runs.
    if (GetParam() == "ebb") {
      EXPECT_EQ(device.statistics().displaced, displaced) << "a block lay where the plan wanted another";
    }
    const IterationStatistics last = device.iterations().back();
    const auto predicted = static_cast<double>(device.status().predicted_step);
    const auto measured = static_cast<double>(last.step_time);
    std::printf("%s at %d %%: predicted %.3f ms, followed %.3f ms (%+.2f %%), left out %lld, replays %lld\n",
                GetParam().c_str(), percent, predicted * 1e-6, measured * 1e-6,
                100 * (measured / predicted - 1), static_cast<long long>(last.left_out),
                static_cast<long long>(last.replays));
    EXPECT_LE(measured / predicted, 1.05);
    // The prediction has the host's issue times in it, which are real: on a loaded host it is too high.
    if (std::getenv("EBB_SOAK") == nullptr) continue;
    // What a replay finds there already it need not make, so a plan may be followed with fewer replays than
    // it has.
    const bool fewer_replays = last.replays < planned_replays(device);
    EXPECT_TRUE(fewer_replays || measured / predicted >= 0.95);
  }
  EXPECT_GT(planned, 0);
}

void run_while_improving(ProgramRunner& runner, const Device& device) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (device.status().improving && std::chrono::steady_clock::now() < end) {
    runner.iterate();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Of the last iterations: one in three may be timed, which makes it longer.
Nanoseconds usual_step(const Device& device) {
  const std::vector<IterationStatistics> all = device.iterations();
  Nanoseconds shortest = all.back().step_time;
  for (std::size_t i = all.size() - std::min<std::size_t>(all.size(), 3); i < all.size(); ++i)
    shortest = std::min(shortest, all[i].step_time);
  return shortest;
}

// Of a device that looks at the times of its plans, within 60 % of the program's memory.
DeviceOptions looking_again(const Program& program, const Machine& machine,
                            std::function<Nanoseconds()> clock) {
  return {.limit = program.peak_demand() * kPiece * 60 / 100,
          .mode = Mode::planned,
          .allow_recompute = true,
          .smallest_managed = 1,
          .host_slab = 256 * kKiB,
          .clock = std::move(clock),
          .machine = machine,
          .planning_seconds = 0.3,
          .host_is_ahead = true};
}

// Ops that take twice as long until a plan is followed, as where moving on demand keeps the host from feeding
// the device: the plan is made for a step with twice the time to copy.
TEST(SecondLook, APlanMadeForOpTimesThatAreNotTrueIsMadeAgain) {
  const Program program = timed_chain(12);
  const Machine machine{.name = "virtual", .bandwidth_out = 12'000'000, .bandwidth_in = 12'000'000};
  VirtualBackend backend(machine);
  backend.keep_host_ahead();
  Device device(backend, looking_again(program, machine, [] { return Nanoseconds{0}; }));
  Nanoseconds times = 2;
  ProgramRunner runner(device, program, {.unit = kPiece, .work = [&](OpIndex i) {
                                           backend.work(times * program.op(i).duration);
                                         }});
  ASSERT_TRUE(run_until_planned(runner, device, 60));
  times = 1;
  const DeviceStatus first = device.status();
  EXPECT_NEAR(static_cast<double>(first.plain_step), 2.0 * static_cast<double>(program.compute_time()), 1e3);
  EXPECT_TRUE(first.improving) << "nobody has looked at the plan's own times yet";
  for (int i = 0; i < 5; ++i) runner.iterate();
  const Nanoseconds before = usual_step(device);
  run_while_improving(runner, device);
  for (int i = 0; i < 3; ++i) runner.iterate();
  const DeviceStatus second = device.status();
  EXPECT_FALSE(second.improving);
  EXPECT_EQ(second.mode, Mode::planned);
  EXPECT_GT(second.plans_made, first.plans_made);
  EXPECT_NEAR(static_cast<double>(second.plain_step), static_cast<double>(program.compute_time()),
              0.01 * static_cast<double>(program.compute_time()));
  const Nanoseconds after = usual_step(device);
  std::printf("plain %.3f ms: %.3f by the first plan, %.3f by the last, predicted %.3f\n",
              static_cast<double>(program.compute_time()) * 1e-6, static_cast<double>(before) * 1e-6,
              static_cast<double>(after) * 1e-6, static_cast<double>(second.predicted_step) * 1e-6);
  EXPECT_LT(after, before);
  EXPECT_LE(static_cast<double>(after), 1.05 * static_cast<double>(second.predicted_step));
  EXPECT_EQ(runner.wrong_reads(), 0);
}

TEST(SecondLook, APlanMadeForTheRightTimesStays) {
  const Program program = timed_chain(12);
  const Machine machine{.name = "virtual", .bandwidth_out = 12'000'000, .bandwidth_in = 12'000'000};
  VirtualBackend backend(machine);
  backend.keep_host_ahead();
  DeviceOptions options = looking_again(program, machine, [] { return Nanoseconds{0}; });
  options.limit = program.peak_demand() * kPiece * 80 / 100;  // all packs well at once: no better plan comes
  options.allow_recompute = false;
  options.planner = "ondemand";
  Device device(backend, options);
  ProgramRunner runner(device, program,
                       {.unit = kPiece, .work = [&](OpIndex i) { backend.work(program.op(i).duration); }});
  ASSERT_TRUE(run_until_planned(runner, device, 60));
  const std::shared_ptr<const PreparedPlan> plan = device.followed()->plan;
  run_while_improving(runner, device);
  EXPECT_FALSE(device.status().improving);
  EXPECT_EQ(device.followed()->plan, plan);
}

// Ops are shorter than what the host takes to issue them, and longer events around them say: the step is the
// host's, and its copies hide behind that.
TEST(SecondLook, AStepThatWaitsForItsHostIsPredicted) {
  const Program program = timed_chain(12);
  const Machine machine{.name = "virtual", .bandwidth_out = 25'000'000, .bandwidth_in = 25'000'000};
  VirtualBackend backend(machine);
  backend.set_host({.op = 3'000'000, .copy = 50'000, .event = 20'000, .queue = 100});
  Machine seen = machine;
  seen.copy_issue = 50'000;
  Device device(backend, looking_again(program, seen, [&] { return backend.host_now(); }));
  ProgramRunner runner(device, program,
                       {.unit = kPiece, .work = [&](OpIndex i) { backend.work(program.op(i).duration); }});
  ASSERT_TRUE(run_until_planned(runner, device, 60));
  run_while_improving(runner, device);
  for (int i = 0; i < 4; ++i) runner.iterate();
  const DeviceStatus status = device.status();
  EXPECT_FALSE(status.improving);
  const auto followed = static_cast<double>(usual_step(device));
  std::printf("host 72 ms: plain %.3f, predicted %.3f, followed %.3f\n",
              static_cast<double>(status.plain_step) * 1e-6,
              static_cast<double>(status.predicted_step) * 1e-6, followed * 1e-6);
  // What starting a copy takes is measured by the real clock: on a loaded machine it is too long.
  EXPECT_GE(static_cast<double>(status.plain_step), 0.95 * 24 * 3'000'000);
  EXPECT_NEAR(static_cast<double>(status.predicted_step), followed, 0.05 * followed);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

// As where they are captured: plans then have what an op costs that is issued again, not the first time.
TEST(SecondLook, ReplaysThatCostTheHostLessThanOpsArePlannedAsSuch) {
  const Program program = timed_chain(12);
  const Machine machine{.name = "virtual", .bandwidth_out = 1'000'000, .bandwidth_in = 1'000'000};
  const HostTimes host{.op = 3'000'000, .queue = 100};
  const HostTimes again{.op = 100'000, .queue = 100};
  VirtualBackend backend(machine);
  backend.set_host(host);
  Device device(backend, looking_again(program, machine, [&] { return backend.host_now(); }));
  OpIndex next = 0;
  ProgramRunner runner(device, program, {.unit = kPiece, .work = [&](OpIndex i) {
                                           const bool first_time = i == next;
                                           if (first_time) next = (next + 1) % program.op_count();
                                           backend.set_host(first_time ? host : again);
                                           backend.work(program.op(i).duration);
                                           backend.set_host(host);
                                         }});
  ASSERT_TRUE(run_until_planned(runner, device, 60));
  EXPECT_EQ(device.followed()->machine.replay_issue, 0) << "nothing is known before a plan was watched";
  run_while_improving(runner, device);
  for (int i = 0; i < 4; ++i) runner.iterate();
  EXPECT_FALSE(device.status().improving);
  ASSERT_GT(device.iterations().back().replays, 0);
  EXPECT_EQ(device.followed()->machine.op_issue, host.op);
  EXPECT_EQ(device.followed()->machine.replay_issue, again.op);
  const auto predicted = static_cast<double>(device.status().predicted_step);
  EXPECT_NEAR(static_cast<double>(usual_step(device)), predicted, 0.05 * predicted);
  EXPECT_EQ(runner.wrong_reads(), 0);
}

std::vector<std::string> planner_names() {
  std::vector<std::string> names;
  for (const Planner& planner : planners()) names.emplace_back(planner.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Planners, Prediction, ::testing::ValuesIn(planner_names()));

}  // namespace
}  // namespace ebb::testing
