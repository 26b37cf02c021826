// Steps as predicted and as they were: plays a program on a Device at limits and under planners, with ops
// that take the recorded time, and prints both as ratios to the plain step, what the copies reached, and what
// an exec cost the host: in Device::exec and Device::free, without the driver's calls and without reading the
// clock to measure them, whose cost is measured before.
//
//   predicted_against_measured [STEP-TRACE [LIMITS [PLANNERS]]]    e.g. data/resnet50.json.gz 80,60 ondemand
//
// Without a trace, or with "chain": a chain of layers whose ops take 8 ms and more.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "../comma_list.h"
#include "step_player.h"
#include "timed_backend.h"
#include "trace/load.h"
#include "workbench.h"

namespace ebb {
namespace {

Program chain() {
  constexpr int kLayers = 16;
  constexpr Bytes kBytes = 4 * kMiB;
  std::vector<Block> blocks;
  std::vector<Op> ops(2 * kLayers);
  for (int i = 0; i < kLayers; ++i) blocks.push_back({.bytes = kBytes / 4, .lifetime = Lifetime::persistent});
  for (int i = 0; i < kLayers; ++i)
    blocks.push_back({.bytes = kBytes, .birth = i, .death = 2 * kLayers - 1 - i});
  for (int i = 0; i < kLayers; ++i) {
    const BlockId weight = i, act = kLayers + i;
    Op& forward = ops[static_cast<std::size_t>(i)];
    Op& backward = ops[static_cast<std::size_t>(2 * kLayers - 1 - i)];
    forward = {.name = "forward", .duration = 8'000'000 + i * 200'000};
    forward.accesses = {{.block = weight, .reads = true}, {.block = act, .writes = true}};
    if (i > 0) forward.accesses.push_back({.block = act - 1, .reads = true});
    backward = {.name = "backward", .duration = 16'000'000 + i * 400'000};
    backward.accesses = {{.block = act, .reads = true}, {.block = weight, .reads = true, .writes = true}};
  }
  return Program::build({.name = "chain"}, std::move(ops), std::move(blocks));
}

struct Measured {
  DeviceStatus status;
  double step = 0;                   // median, ns
  double overlap = 0;                // of copy time, beside compute
  double out_rate = 0, in_rate = 0;  // bytes per second inside the step
  double own_host = 0;               // ns per exec, without the driver's and the clock's
  double clock = 0;                  // ns per exec that reading the clock took
  double driver = 0;                 // ns per exec
  std::array<CallTimes, kBackendCalls> calls = {};
  std::int64_t execs = 1;
  IterationStatistics last;
};

double seconds_of(Lane lane, const Timeline& timeline) {
  double time = 0;
  for (const Span& span : timeline.spans)
    if (span.lane == lane) time += static_cast<double>(span.end - span.start) * 1e-9;
  return time;
}

// Time of copies during which an op runs, as a share.
double overlap_of(const Timeline& timeline) {
  double copied = 0, beside = 0;
  for (const Span& copy : timeline.spans) {
    if (copy.lane == Lane::compute) continue;
    copied += static_cast<double>(copy.end - copy.start);
    for (const Span& op : timeline.spans)
      if (op.lane == Lane::compute)
        beside += static_cast<double>(
            std::max<Nanoseconds>(0, std::min(op.end, copy.end) - std::max(op.start, copy.start)));
  }
  return copied > 0 ? beside / copied : 0;
}

class Bench {
 public:
  Bench(Workbench& workbench, const Program& program)
      : workbench_(workbench), program_(program), machine_(workbench.machine()) {}

  void print_links() const {
    fmt::print("{}: {} ops, peak {:.1f} MiB; plain copies {:.2f} out, {:.2f} in, {:.2f} GB/s together\n",
               workbench_.name(), program_.op_count(), static_cast<double>(program_.peak_demand()) / kMiB,
               static_cast<double>(machine_.bandwidth_out) * 1e-9,
               static_cast<double>(machine_.bandwidth_in) * 1e-9,
               static_cast<double>(machine_.bandwidth_both) * 1e-9);
  }

  Measured measure(double limit, const std::string& planner) {
    TimedBackend backend(workbench_.backend());
    // Room for alignment and the pool above the plan.
    const Bytes bytes = static_cast<Bytes>(limit * static_cast<double>(program_.peak_demand()));
    Device device(backend, {.limit = bytes,
                            .mode = Mode::planned,
                            .allow_recompute = true,
                            .host_slab = workbench_.is_large() ? 256 * kMiB : 32 * kMiB,
                            .planner = planner,
                            .machine = machine_,
                            .host_is_ahead = workbench_.is_large()});
    StepPlayer player(device, program_, [this](const Op& op, bool) { workbench_.work(op.duration); });
    for (int i = 0; i < 200 && device.status().mode != Mode::planned; ++i) {
      player.iterate();
      device.synchronize();
      for (int waits = 0; waits < 3000 && device.status().planning; ++waits)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (!device.status().refusal.empty()) break;
    }
    Measured measured;
    if (device.status().mode == Mode::planned) {
      for (int i = 0; i < kMostWarmUp && !is_steady(device.status()); ++i) player.iterate();
      for (int i = 0; i < kAfter; ++i) player.iterate();
      device.synchronize();
      backend.take();
      player.take_times();
      for (int i = 0; i < kSteps; ++i) player.iterate();
      add_host_times(player.take_times(), backend.take(), measured);
      device.synchronize();
      add_steps(device, measured);
    }
    measured.status = device.status();
    return measured;
  }

 private:
  static constexpr int kSteps = 8;
  static constexpr int kMostWarmUp = 1000;  // it may lose its plan
  static constexpr int kAfter = 4;          // the second iteration of a plan is timed too

  // No better plan is looked for or about to take over, and no op is timed: those of the 1st, 2nd, 4th, 8th …
  // planned iteration are, and are read in the next ones.
  static bool is_steady(const DeviceStatus& status) {
    const auto done = static_cast<std::uint64_t>(status.planned_iterations);
    return !status.improving && done >= std::bit_floor(done) + 4 &&
           std::bit_ceil(done + 1) > done + kAfter + kSteps + 1;
  }

  static void add_host_times(const PlayerTimes& times, const std::array<CallTimes, kBackendCalls>& calls,
                             Measured& measured) {
    Nanoseconds driver = 0;
    std::int64_t intervals = times.execs + times.functions;
    for (const CallTimes& call : calls) {
      driver += call.time;
      intervals += call.calls;
    }
    measured.calls = calls;
    measured.execs = times.execs;
    const auto execs = static_cast<double>(times.execs);
    measured.clock = clock_read() * static_cast<double>(intervals) / execs;
    measured.driver = static_cast<double>(driver) / execs;
    measured.own_host = static_cast<double>(times.exec - times.function - driver) / execs - measured.clock;
  }

  static void add_steps(const Device& device, Measured& measured) {
    std::vector<Nanoseconds> steps;
    std::vector<IterationStatistics> iterations = device.iterations();
    for (std::size_t i = iterations.size() - std::min<std::size_t>(iterations.size(), kSteps);
         i < iterations.size(); ++i)
      steps.push_back(iterations[i].step_time);
    std::sort(steps.begin(), steps.end());
    if (!steps.empty()) measured.step = static_cast<double>(steps[steps.size() / 2]);
    if (!iterations.empty()) measured.last = iterations.back();
    if (const std::optional<StepComparison> comparison = device.comparison()) {
      const Timeline& timeline = comparison->measured;
      measured.overlap = overlap_of(timeline);
      const double out = seconds_of(Lane::out, timeline), in = seconds_of(Lane::in, timeline);
      if (out > 0) measured.out_rate = static_cast<double>(measured.last.bytes_out) / out;
      if (in > 0) measured.in_rate = static_cast<double>(measured.last.bytes_in) / in;
    }
  }

  Workbench& workbench_;
  const Program& program_;
  Machine machine_;
};

int run(int argc, char** argv) {
  const std::unique_ptr<Workbench> workbench = make_workbench();
  const std::string step = argc > 1 ? argv[1] : "chain";
  const Program program = step == "chain" ? chain() : load_program(step);
  const std::vector<std::string> limits = split(argc > 2 ? argv[2] : "75,60,50");
  const std::vector<std::string> planners = split(argc > 3 ? argv[3] : "ondemand");
  Bench bench(*workbench, program);
  bench.print_links();
  const Measured plain = bench.measure(1.3, "keep");
  if (plain.step == 0) return fmt::print("no plain step: {}\n", plain.status.refusal), 1;
  fmt::print("plain step {:.3f} ms, predicted {:.3f}\n\n", plain.step * 1e-6,
             static_cast<double>(plain.status.predicted_step) * 1e-6);
  fmt::print("{:>6} {:<16} {:>10} {:>10} {:>7} {:>9} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9}\n", "limit",
             "planner", "predicted", "measured", "error", "overlap", "out GB/s", "in GB/s", "out MiB",
             "replays", "own ns/op", "driver");
  for (const std::string& limit : limits)
    for (const std::string& planner : planners) {
      const Measured m = bench.measure(std::stod(limit) / 100, planner);
      if (m.step == 0) {
        fmt::print("{:>5}% {:<16} {}\n", limit, planner, m.status.refusal);
        continue;
      }
      const double predicted =
          static_cast<double>(m.status.predicted_step) / static_cast<double>(plain.status.predicted_step);
      const double measured = m.step / plain.step;
      fmt::print(
          "{:>5}% {:<16} {:>9.4f}x {:>9.4f}x {:>6.2f}% {:>8.1f}% {:>8.2f} {:>8.2f} {:>8.0f} {:>8} {:>9.0f} "
          "{:>9.0f}\n",
          limit, m.status.planner, predicted, measured, 100 * (measured / predicted - 1), 100 * m.overlap,
          m.out_rate * 1e-9, m.in_rate * 1e-9, static_cast<double>(m.last.bytes_out) / kMiB, m.last.replays,
          m.own_host, m.driver);
      fmt::print(
          "       left out {}, deviations {}; stalls in ms: sync {:.2f}, copy-in {:.2f}, room {:.2f}; driver "
          "calls per op:",
          m.last.left_out, m.last.deviations,
          static_cast<double>(m.last.stalls[static_cast<std::size_t>(StallCause::sync)]) * 1e-6,
          static_cast<double>(m.last.stalls[static_cast<std::size_t>(StallCause::copy_in)]) * 1e-6,
          static_cast<double>(m.last.stalls[static_cast<std::size_t>(StallCause::room)]) * 1e-6);
      for (std::size_t i = 0; i < kBackendCalls; ++i)
        fmt::print(" {} {:.2f} ({:.0f} ns)", kBackendCallNames[i],
                   static_cast<double>(m.calls[i].calls) / static_cast<double>(m.execs),
                   m.calls[i].calls == 0
                       ? 0
                       : static_cast<double>(m.calls[i].time) / static_cast<double>(m.calls[i].calls));
      fmt::print("; {:.0f} ns per op for the clock are taken off\n", m.clock);
    }
  return 0;
}

}  // namespace
}  // namespace ebb

int main(int argc, char** argv) try { return ebb::run(argc, argv); } catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
