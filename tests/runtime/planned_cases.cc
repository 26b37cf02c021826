#include "runtime/planned_cases.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "plan/lower.h"

namespace ebb::testing {
namespace {

constexpr Bytes kGrain = 512;
constexpr int kMostLooking = 1000;  // iterations

// A plan that can be carried out, as random as can be found, another one each time; else whatever keeps the
// limit.
PlanFunction random_plan_function(std::uint64_t seed) {
  const auto random = std::make_shared<Random>(seed * 31 + 7);
  return [random](const PlanningProblem& problem, const PlannerOptions& options) {
    Lowerer lowerer(problem.program, problem.gaps);
    LoweredPlan lowered;
    for (int tries = 0; tries < 40; ++tries) {
      Plan plan = random_plan(*random, problem.program, problem.gaps);
      if (!lowerer.lower(plan, problem.limit, lowered)) return PlanningResult{.plan = std::move(plan)};
    }
    return find_planner("ondemand").plan(problem, options);
  };
}

Bytes random_device_limit(Random& random, const Program& program) {
  // Blocks without bytes take a unit each.
  const Bytes spare = program.block_count() - program.info().unmanaged;
  const Bytes least = smallest_limit(program) + spare;
  const Bytes most = std::max(least, program.peak_demand() + spare);
  return random.between(least, most) * kGrain + 4 * kGrain;
}

// Mallocs and frees small blocks while it lives.
class Churn {
 public:
  explicit Churn(Device& device)
      : thread_([this, &device] {
          for (Bytes i = 0; !stop_; ++i) {
            try {
              const Handle block = device.malloc(1 + i % 700);
              std::this_thread::yield();
              device.free(block);
            } catch (const OutOfMemory&) {
            }
          }
        }) {}
  ~Churn() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

std::string what_is_wrong(const Device& device, const ProgramRunner& runner, const PlannedCase& one,
                          Bytes limit) {
  const DeviceStatistics statistics = device.statistics();
  const std::string where = "seed " + std::to_string(one.seed) + ": ";
  if (runner.wrong_reads() > 0) return where + std::to_string(runner.wrong_reads()) + " wrong reads";
  if (!one.may_fail && runner.failures() > 0) return where + runner.last_failure();
  if (statistics.arena_high_water > limit) return where + "the limit was exceeded";
  if (statistics.blocks != 0) return where + std::to_string(statistics.blocks) + " blocks are left";
  if (statistics.arena_in_use != 0) return where + "device memory is left in use";
  if (statistics.host_in_use != 0) return where + "host memory is left in use";
  return {};
}

}  // namespace

void PlannedSum::add(const Device& device, bool was_planned) {
  const DeviceStatus status = device.status();
  const DeviceStatistics statistics = device.statistics();
  ++cases;
  planned += was_planned;
  plans += status.plans_made;
  planned_iterations += status.planned_iterations;
  deviations += status.deviations;
  fallbacks += status.fallbacks;
  left_out += status.left_out;
  displaced += statistics.displaced;
  replays += statistics.replays;
  bytes_out += statistics.bytes_out;
}

void PlannedSum::print() const {
  std::printf(
      "%d cases, %d planned: %lld planned iterations, %lld deviations, %lld fallbacks, %lld left out, "
      "%lld displaced, %lld replays, %lld KiB out, %d failures\n",
      cases, planned, static_cast<long long>(planned_iterations), static_cast<long long>(deviations),
      static_cast<long long>(fallbacks), static_cast<long long>(left_out), static_cast<long long>(displaced),
      static_cast<long long>(replays), static_cast<long long>(bytes_out / kKiB), failures);
}

std::string run_planned_case(const PlannedCase& one, PlannedSum& sum) {
  Random random(one.seed);
  const Program program = random_program(random);
  const Bytes limit = random_device_limit(random, program);
  const std::unique_ptr<Backend> backend = one.backend(one.seed);
  DeviceOptions options{.limit = limit,
                        .host_limit = one.host_limit,
                        .mode = Mode::planned,
                        .allow_recompute = random.chance(70),
                        .smallest_managed = random.between<Bytes>(1, 2048),
                        .host_slab = std::min(64 * kKiB, one.host_limit > 0 ? one.host_limit : 64 * kKiB),
                        .planner = one.planner,
                        .planning_seconds = 0.2,
                        .host_is_ahead = one.looks_again};
  if (one.planner.empty()) options.plan = random_plan_function(one.seed);
  Device device(*backend, options);
  ProgramRunner runner(device, program,
                       {.unit = kGrain, .births_outside = random.chance(30), .bytes = one.bytes});
  bool planned = false;
  try {
    std::optional<Churn> churn;
    if (one.churn) churn.emplace(device);
    planned = run_until_planned(runner, device, 80);
    for (int i = 0; i < kMostLooking && one.looks_again && device.status().improving; ++i) {
      runner.iterate();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    for (int i = 0; i < 3; ++i) {
      if (one.vary) runner.iterate(one.vary(random, program));
      runner.iterate();
      runner.iterate();
    }
  } catch (const OutOfMemory& error) {
    if (!one.may_fail) throw;
    ++sum.failures;  // it does not go on without host memory; what was read so far counts
    sum.add(device, planned);
    return runner.wrong_reads() > 0 ? "wrong reads after " + std::string(error.what()) : "";
  }
  runner.finish();
  device.evict_all();  // the plan may have kept something for the rest of the iteration
  sum.add(device, planned);
  sum.failures += runner.failures();
  return what_is_wrong(device, runner, one, limit);
}

}  // namespace ebb::testing
