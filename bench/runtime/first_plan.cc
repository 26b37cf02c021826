// How long a program waits for its first plan and what the last one is worth: a recorded step, played in
// virtual time, is planned as a Device plans it, on the planner's own thread.
//
//   first_plan STEP [MACHINE [LIMITS [SECONDS]]]     e.g. data/resnet50.json.gz h200 60,45 10
#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "../comma_list.h"
#include "machine/machine_file.h"
#include "runtime/background_planner.h"
#include "runtime/virtual_backend.h"
#include "step_player.h"
#include "trace/load.h"

namespace ebb {
namespace {

constexpr int kIterations = 8;  // recorded

Trace record(const Program& program, const Machine& machine, Bytes limit) {
  testing::VirtualBackend backend(machine, false);
  Device device(backend, {.limit = limit, .allow_recompute = true});
  StepPlayer player(device, program, [&](const Op& op, bool) { backend.work(machine.op_time(op)); });
  for (int i = 0; i < kIterations; ++i) player.iterate();
  return device.trace();
}

void plan(const Program& program, const Machine& machine, int percent, double seconds) {
  const Bytes limit = program.peak_demand() / 100 * percent;
  const Trace trace = record(program, machine, limit);
  BackgroundPlanner planner({.capacity = limit,
                             .smallest_managed = 64 * kKiB,
                             .allow_recompute = true,
                             .deadline_seconds = seconds});
  const auto start = std::chrono::steady_clock::now();
  planner.start(trace, machine, 0);
  std::shared_ptr<const PreparedPlan> known;
  for (PlanningNews news; !news.done; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    if (!planner.poll(news)) continue;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const std::shared_ptr<const PreparedPlan>& made = news.preparation.plan;
    if (!news.done && made == known) continue;
    fmt::print("{:>4}% {:>6.2f} s: ", percent, elapsed.count());
    if (!made)
      fmt::print("no plan: {}", news.preparation.refusal);
    else if (made == known)
      fmt::print("nothing better");
    else
      fmt::print("{:.4f} x plain, {} MiB packed",
                 static_cast<double>(made->predicted_step) / static_cast<double>(made->step.plain_time),
                 made->layout.footprint / kMiB);
    fmt::print("{}\n", news.done ? ", done" : "");
    std::fflush(stdout);
    known = made;
  }
}

int run(int argc, char** argv) {
  if (argc < 2) return fmt::print(stderr, "which step? see the top of the source\n"), 2;
  const Program program = load_program(argv[1]);
  const Machine machine = load_machine(argc > 2 ? argv[2] : "h200");
  for (const std::string& percent : split(argc > 3 ? argv[3] : "60,45"))
    plan(program, machine, std::stoi(percent), argc > 4 ? std::stod(argv[4]) : 10);
  return 0;
}

}  // namespace
}  // namespace ebb

int main(int argc, char** argv) try { return ebb::run(argc, argv); } catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
