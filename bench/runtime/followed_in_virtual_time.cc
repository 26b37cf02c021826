// A recorded step as predicted and as a Device follows it, in virtual time: what the runtime adds to a plan,
// without a GPU and without its memory.
//
//   followed_in_virtual_time STEP [MACHINE [LIMITS [PLANNERS [cold]]]]
//   followed_in_virtual_time data/resnet50.json.gz h200 75,60 ebb
//
// `cold`: between ops other memory than the runtime's is read, as much as a core's caches hold, as a training
// program does; then the host time is that of a runtime whose data are not at hand.
//
// Under `valgrind --tool=callgrind --instr-atstart=no` it counts the instructions of the iterations that give
// the host time.
#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "../comma_list.h"
#include "machine/machine_file.h"
#include "runtime/prepared_plan.h"
#include "runtime/virtual_backend.h"
#include "step_player.h"
#include "trace/load.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

namespace ebb {
namespace {

constexpr int kIterations = 50;            // for the host time
constexpr Nanoseconds kLongGap = 300'000;  // between two ops, beyond the prediction: worth a line

// When each op began and ended, by op; replays left out.
std::vector<Span> ops_of(const Timeline& timeline, std::size_t count) {
  std::vector<Span> ops(count);
  for (const Span& span : timeline.spans)
    if (span.lane == Lane::compute && !span.replay) ops[static_cast<std::size_t>(span.op)] = span;
  return ops;
}

void show_long_gaps(const Program& program, const StepComparison& step) {
  const std::vector<Span> predicted = ops_of(step.predicted, program.ops().size());
  const std::vector<Span> followed = ops_of(step.measured, program.ops().size());
  for (std::size_t i = 1; i < predicted.size(); ++i) {
    const Nanoseconds more =
        (followed[i].start - followed[i - 1].end) - (predicted[i].start - predicted[i - 1].end);
    if (more > kLongGap)
      fmt::print("    {:.3f} ms more before op {} {}\n", static_cast<double>(more) * 1e-6, i,
                 program.op(static_cast<OpIndex>(i)).name);
  }
}

// Of the last iteration.
void show_surprises(const Device& device, OpIndex ops) {
  const std::int64_t began = device.statistics().ops - ops;
  for (const Surprise& surprise : device.surprises())
    if (surprise.at >= began)
      fmt::print("    {} of {} bytes at {}, wanted {} to {}, {}{}\n", name_of(surprise.kind), surprise.bytes,
                 surprise.offset, surprise.wanted, surprise.wanted_end, surprise.replay ? "again " : "",
                 surprise.op);
}

std::size_t planned_replays(const Device& device) {
  const std::optional<FollowedStep> followed = device.followed();
  return followed && followed->plan ? followed->plan->lowered.replays.size() : 0;
}

// Other people's memory.
class OtherMemory {
 public:
  void read() {
    for (std::size_t i = 0; i < bytes_.size(); i += kLine) sum_ = sum_ + bytes_[i];
  }

 private:
  static constexpr std::size_t kLine = 64;
  std::vector<unsigned char> bytes_ = std::vector<unsigned char>(6 * kMiB, 1);
  volatile unsigned sum_ = 0;
};

void follow(const Program& program, const Machine& machine, int percent, const std::string& planner,
            bool is_cold) {
  testing::VirtualBackend backend(machine, false);
  Device device(backend, {.limit = program.peak_demand() / 100 * percent,
                          .mode = Mode::planned,
                          .allow_recompute = true,
                          .planner = planner,
                          .machine = machine});
  OtherMemory others;
  StepPlayer player(device, program, [&](const Op& op, bool) {
    backend.work(machine.op_time(op));
    if (is_cold) others.read();
  });
  const bool is_planned = player.iterate_until_planned(60);
  const DeviceStatus status = device.status();
  if (!is_planned) return fmt::print("{:>4}% {:<16} {}\n", percent, planner, status.refusal);
  std::ignore = player.take_times();
  CALLGRIND_START_INSTRUMENTATION;
  for (int i = 0; i < kIterations; ++i) player.iterate();
  CALLGRIND_STOP_INSTRUMENTATION;
  const PlayerTimes times = player.take_times();
  const DeviceStatistics before = device.statistics();
  player.iterate();
  const DeviceStatistics after = device.statistics();
  const IterationStatistics last = device.iterations().back();
  const auto plain = static_cast<double>(status.plain_step);
  const double predicted = static_cast<double>(status.predicted_step) / plain;
  const double followed = static_cast<double>(last.step_time) / plain;
  fmt::print(
      "{:>4}% {:<16} predicted {:.4f} x plain, followed {:.4f} ({:+.2f} %); {} MiB out, {} in, {} replays, "
      "{} planned; {} left out, {} displaced, {} misplaced, {:.1f} s planning, {:.2f} us of host time per "
      "op\n",
      percent, status.planner, predicted, followed, 100 * (followed / predicted - 1), last.bytes_out / kMiB,
      last.bytes_in / kMiB, last.replays, planned_replays(device), last.left_out,
      after.displaced - before.displaced, after.misplaced - before.misplaced, status.planning_seconds,
      static_cast<double>(times.exec - times.function) * 1e-3 / static_cast<double>(times.execs));
  show_surprises(device, program.op_count());
  if (const std::optional<StepComparison> step = device.comparison()) show_long_gaps(program, *step);
}

int run(int argc, char** argv) {
  if (argc < 2) return fmt::print(stderr, "which step? see the top of the source\n"), 2;
  const Program program = load_program(argv[1]);
  const Machine machine = load_machine(argc > 2 ? argv[2] : "h200");
  const bool is_cold = argc > 5 && std::string_view(argv[5]) == "cold";
  for (const std::string& percent : split(argc > 3 ? argv[3] : "75,60,45"))
    for (const std::string& planner : split(argc > 4 ? argv[4] : "ebb"))
      follow(program, machine, std::stoi(percent), planner, is_cold);
  return 0;
}

}  // namespace
}  // namespace ebb

int main(int argc, char** argv) try { return ebb::run(argc, argv); } catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
