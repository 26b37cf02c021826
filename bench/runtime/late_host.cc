// A GPU that waits for its host, in virtual time: a step of many short ops, planned from op times that
// contain the host's, and planned again after a second look (docs/notes/planned-mode.md). Nothing is copied
// and nothing computed, so that it runs without a GPU and without its memory.
//
//   late_host STEP|resnet1001 [MACHINE [LIMITS [HOST [DEMAND [PLANS]]]]]
//   late_host resnet1001 h200 20 39 1.7
//   late_host resnet1001 h200 20 39,8 1.7
//
// HOST: the microseconds a host takes to issue an op, without Ebb, and, where replays are captured, to issue
// one again. DEMAND: how many times as long it takes
// while blocks move on demand. Under a plan it takes a tenth more than without Ebb. PLANS: a folder of plans
// for later runs. `resnet1001` is [SUB]'s network with batch 32, whose ops keep an H200 busy for 208 ms of a
// step (measured with CUPTI).
#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "../comma_list.h"
#include "machine/machine_file.h"
#include "runtime/second_look.h"
#include "runtime/virtual_backend.h"
#include "simulate/host_lane.h"
#include "step_player.h"
#include "trace/generate.h"
#include "trace/load.h"

namespace ebb {
namespace {

constexpr double kUnderAPlan = 1.1;             // times as long as without Ebb the host takes for an op
constexpr Nanoseconds kCopy = 5'000;            // the host takes to start one,
constexpr Nanoseconds kEvent = 1'700;           // and to record an event
constexpr std::size_t kQueue = 1'000;           // ops that may wait for the device
constexpr Nanoseconds kDeepStep = 208'000'000;  // of the 1001 layers on the device
constexpr int kMostUntilPlanned = 100;          // iterations
constexpr int kMostIterations = 20'000;

struct Host {
  Nanoseconds per_op = 39'000;
  Nanoseconds per_replay = 0;  // 0: as an op
  double on_demand = 1.7;

  testing::HostTimes times(double longer) const {
    return {.op = static_cast<Nanoseconds>(longer * static_cast<double>(per_op)),
            .copy = kCopy,
            .event = kEvent,
            .queue = kQueue};
  }
  testing::HostTimes times_of_replay(double longer) const {
    testing::HostTimes answer = times(longer);
    if (per_replay > 0) answer.op = per_replay;
    return answer;
  }
};

Program deep_program(Machine& machine) {
  Program program = generate_resnet({.depth = 1001}, {.flops_per_second = 60e12, .bytes_per_second = 3e12});
  machine.compute_scale = static_cast<double>(kDeepStep) / static_cast<double>(program.compute_time());
  return program;
}

void show(const char* what, const Device& device, double plain) {
  const DeviceStatus status = device.status();
  const IterationStatistics last = device.iterations().back();
  fmt::print(
      "  {}: followed {:.4f} x plain, {:.1f} ms (predicted {:.1f}, for ops of {:.1f}); {} MiB out, {} in, {} "
      "replays\n",
      what, static_cast<double>(last.step_time) / plain, static_cast<double>(last.step_time) * 1e-6,
      static_cast<double>(status.predicted_step) * 1e-6, static_cast<double>(status.plain_step) * 1e-6,
      last.bytes_out / kMiB, last.bytes_in / kMiB, last.replays);
  std::fflush(stdout);
}

void follow(const Program& program, const Machine& machine, int percent, const Host& host,
            const std::string& plans_folder) {
  Machine without_ebb = machine;
  without_ebb.op_issue = host.per_op;
  const auto plain = static_cast<double>(plain_step(program, machine_for(program, without_ebb)));
  testing::VirtualBackend backend(machine, false);
  backend.set_host(host.times(host.on_demand));
  Machine seen = machine;
  seen.compute_scale = 1;
  seen.copy_issue = kCopy;
  Device device(backend, {.limit = program.peak_demand() / 100 * percent,
                          .mode = Mode::planned,
                          .allow_recompute = true,
                          .clock = [&backend] { return backend.host_now(); },
                          .machine = seen,
                          .kept_plans = plans_folder,
                          .host_is_ahead = true});
  double longer = host.on_demand;
  StepPlayer player(device, program, [&](const Op& op, bool again) {
    if (again) backend.set_host(host.times_of_replay(longer));
    backend.work(machine.op_time(op));
    if (again) backend.set_host(host.times(longer));
  });
  fmt::print("{}, {} ops, {} %: plain {:.1f} ms\n", program.info().name, program.op_count(), percent,
             plain * 1e-6);
  if (!player.iterate_until_planned(kMostUntilPlanned))
    return fmt::print("  no plan: {}\n", device.status().refusal);
  backend.set_host(host.times(longer = kUnderAPlan));
  for (int i = 0; i < 3; ++i) player.iterate();
  show("the first plan", device, plain);
  std::int64_t plans = device.status().plans_made;
  for (int i = 0; i < kMostIterations && device.status().improving; ++i) {
    player.iterate();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (std::exchange(plans, device.status().plans_made) == plans) continue;
    for (int settling = 0; settling < 3; ++settling) player.iterate();
    show("another", device, plain);
  }
  for (int i = 0; i < 4; ++i) player.iterate();
  show("the last plan", device, plain);
}

int run(int argc, char** argv) {
  if (argc < 2) return fmt::print(stderr, "which step? see the top of the source\n"), 2;
  Machine machine = load_machine(argc > 2 ? argv[2] : "h200");
  const bool is_deep = std::string_view(argv[1]) == "resnet1001";
  const Program program = is_deep ? deep_program(machine) : load_program(argv[1]);
  Host host;
  if (argc > 4) {
    const std::vector<std::string> times = split(argv[4]);
    host.per_op = static_cast<Nanoseconds>(1000 * std::stod(times.at(0)));
    if (times.size() > 1) host.per_replay = static_cast<Nanoseconds>(1000 * std::stod(times[1]));
  }
  if (argc > 5) host.on_demand = std::stod(argv[5]);
  for (const std::string& percent : split(argc > 3 ? argv[3] : "20"))
    follow(program, machine, std::stoi(percent), host, argc > 6 ? argv[6] : "");
  return 0;
}

}  // namespace
}  // namespace ebb

int main(int argc, char** argv) try { return ebb::run(argc, argv); } catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
