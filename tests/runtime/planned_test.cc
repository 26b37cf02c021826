// Random programs × random valid plans × random limits: every byte read is that of a run without a limit, the
// limit holds. EBB_SOAK=1 runs ten times as many; EBB_SEED=n runs one case.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backend/faulty/faulty_backend.h"
#include "backend/host/host_backend.h"
#include "backend/null/null_backend.h"
#include "plan/lower.h"
#include "runtime/program_runner.h"

namespace ebb::testing {
namespace {

constexpr Bytes kUnit = 512;

// What a suite of cases did, added up.
struct Sum {
  int cases = 0;
  int planned = 0;  // cases in which a plan was followed
  std::int64_t planned_iterations = 0;
  std::int64_t deviations = 0;
  std::int64_t fallbacks = 0;
  std::int64_t left_out = 0;
  std::int64_t replays = 0;
  std::int64_t displaced = 0;
  std::int64_t bytes_out = 0;
  int failures = 0;

  void add(const Device& device, bool was_planned) {
    const DeviceStatus status = device.status();
    const DeviceStatistics statistics = device.statistics();
    ++cases;
    planned += was_planned;
    planned_iterations += status.planned_iterations;
    deviations += status.deviations;
    fallbacks += status.fallbacks;
    left_out += status.left_out;
    replays += statistics.replays;
    displaced += statistics.displaced;
    bytes_out += statistics.bytes_out;
  }
  void print() const {
    std::printf(
        "%d cases, %d planned: %lld planned iterations, %lld deviations, %lld fallbacks, %lld left out, "
        "%lld displaced, %lld replays, %lld KiB out, %d failures\n",
        cases, planned, static_cast<long long>(planned_iterations), static_cast<long long>(deviations),
        static_cast<long long>(fallbacks), static_cast<long long>(left_out),
        static_cast<long long>(displaced), static_cast<long long>(replays),
        static_cast<long long>(bytes_out / kKiB), failures);
  }
};

// A plan that can be carried out, as random as can be found; else whatever keeps the limit.
PlanFunction random_plan_function(std::uint64_t seed) {
  return [seed](const PlanningProblem& problem, const PlannerOptions& options) {
    Random random(seed * 31 + 7);
    Lowerer lowerer(problem.program, problem.gaps);
    LoweredPlan lowered;
    for (int tries = 0; tries < 40; ++tries) {
      Plan plan = random_plan(random, problem.program, problem.gaps);
      if (!lowerer.lower(plan, problem.limit, lowered)) return PlanningResult{.plan = std::move(plan)};
    }
    return find_planner("ondemand").plan(problem, options);
  };
}

Program scaled(const Program& program) {
  std::vector<Block> blocks = program.blocks();
  std::vector<Op> ops = program.ops();
  for (Block& block : blocks) block.bytes *= kUnit;
  for (Op& op : ops) op.workspace *= kUnit;
  ProgramInfo info = program.info();
  info.unmanaged = 0;
  return Program::build(info, std::move(ops), std::move(blocks));
}

struct Case {
  std::uint64_t seed = 0;
  std::function<std::unique_ptr<Backend>(std::uint64_t)> backend;
  bool may_fail = false;
  std::function<Variation(Random&, const Program&)> vary = {};
  std::string planner = {};
};

void run_case(const Case& one, Sum& sum) {
  Random random(one.seed);
  const Program program = random_program(random);
  const std::unique_ptr<Backend> backend = one.backend(one.seed);
  const Bytes peak = scaled(program).peak_demand();
  // Blocks without bytes take a unit each.
  const Bytes least = (smallest_limit(program) - program.info().unmanaged + program.block_count()) * kUnit;
  const Bytes limit = std::max<Bytes>(4 * kUnit, random.between(least, std::max(least, peak) + 4 * kUnit));
  DeviceOptions options{.limit = limit,
                        .mode = Mode::planned,
                        .allow_recompute = random.chance(70),
                        .smallest_managed = random.between<Bytes>(1, 2048),
                        .host_slab = 64 * kKiB,
                        .planner = one.planner};
  if (one.planner.empty()) options.plan = random_plan_function(one.seed);
  Device device(*backend, options);
  ProgramRunner runner(device, program, {.unit = kUnit, .births_outside = random.chance(30)});
  const bool planned = run_until_planned(runner, device, 80);
  for (int i = 0; i < 3; ++i) {
    if (one.vary) runner.iterate(one.vary(random, program));
    runner.iterate();
    runner.iterate();
  }
  runner.finish();
  EXPECT_EQ(runner.wrong_reads(), 0) << "seed " << one.seed;
  if (!one.may_fail) {
    EXPECT_EQ(runner.failures(), 0) << "seed " << one.seed << ": " << runner.last_failure();
  }
  EXPECT_LE(device.statistics().arena_high_water, limit) << "seed " << one.seed;
  EXPECT_EQ(device.statistics().blocks, 0) << "seed " << one.seed;
  EXPECT_EQ(device.statistics().arena_in_use, 0) << "seed " << one.seed;
  EXPECT_EQ(device.statistics().host_in_use, 0) << "seed " << one.seed;
  sum.add(device, planned);
  sum.failures += runner.failures();
}

Sum run_cases(Case one, int cases) {
  Sum sum;
  if (const char* seed = std::getenv("EBB_SEED")) {
    one.seed = std::strtoull(seed, nullptr, 10);
    run_case(one, sum);
    sum.print();
    return sum;
  }
  if (std::getenv("EBB_SOAK")) cases *= 10;
  for (int i = 1; i <= cases && !::testing::Test::HasFailure(); ++i) {
    one.seed = static_cast<std::uint64_t>(i);
    run_case(one, sum);
  }
  sum.print();
  return sum;
}

std::unique_ptr<Backend> host_backend(std::uint64_t) { return std::make_unique<HostBackend>(); }

TEST(Planned, RandomPlansKeepEveryByteOnTheHostBackend) {
  const Sum sum = run_cases({.backend = host_backend}, 1000);
  EXPECT_GT(sum.planned * 2, sum.cases);
  EXPECT_GT(sum.planned_iterations, 0);
  EXPECT_GT(sum.replays, 0);
  EXPECT_GT(sum.bytes_out, 0);
}

}  // namespace
}  // namespace ebb::testing
