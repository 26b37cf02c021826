// Planned mode on random programs, plans and limits. EBB_SOAK=1 runs ten times as many; EBB_SEED=n runs one
// case.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backend/faulty/faulty_backend.h"
#include "backend/host/host_backend.h"
#include "runtime/case_count.h"
#include "runtime/planned_cases.h"

namespace ebb::testing {
namespace {

PlannedSum run_cases(PlannedCase one, int cases) {
  PlannedSum sum;
  const char* only = std::getenv("EBB_SEED");
  cases = case_count(cases, 10);
  for (int i = 1; i <= cases && !::testing::Test::HasFailure(); ++i) {
    one.seed = only ? std::strtoull(only, nullptr, 10) : static_cast<std::uint64_t>(i);
    EXPECT_EQ(run_planned_case(one, sum), "");
    if (only) break;
  }
  sum.print();
  return sum;
}

std::unique_ptr<Backend> host_backend(std::uint64_t) { return std::make_unique<HostBackend>(); }

TEST(Planned, RandomPlansKeepEveryByteOnTheHostBackend) {
  const PlannedSum sum = run_cases({.backend = host_backend}, 1000);
  EXPECT_GT(sum.planned * 2, sum.cases);
  EXPECT_GT(sum.planned_iterations, 0);
  EXPECT_GT(sum.replays, 0);
  EXPECT_GT(sum.bytes_out, 0);
}

TEST(Planned, PlansThatAreMadeAgainForOtherTimesKeepEveryByte) {
  const PlannedSum sum = run_cases({.backend = host_backend, .looks_again = true}, 60);
  std::printf("%lld plans\n", static_cast<long long>(sum.plans));
  EXPECT_GT(sum.plans, sum.planned);
}

TEST(Planned, IterationsThatDeviateKeepEveryByte) {
  const auto vary = [](Random& random, const Program& program) {
    Variation variation;
    const OpIndex op = random.between<OpIndex>(0, program.op_count() - 1);
    switch (random.between(0, 3)) {
      case 0:
        variation.leave_out = op;
        break;
      case 1:
        variation.one_more_after = op;
        break;
      case 2:
        variation.half_sizes = true;
        break;
      default:
        variation.stop_after = op;
    }
    return variation;
  };
  const PlannedSum sum = run_cases({.backend = host_backend, .vary = vary}, 250);
  EXPECT_GT(sum.planned * 2, sum.cases);
  EXPECT_GT(sum.deviations, sum.cases / 2);
}

TEST(Planned, FailingCopiesCorruptNothing) {
  const auto failing = [](std::uint64_t seed) -> std::unique_ptr<Backend> {
    return std::make_unique<FailingCopies>(host_backend(seed),
                                           FaultPattern{.probability = 0.1, .seed = seed});
  };
  const PlannedSum sum = run_cases({.backend = failing, .may_fail = true}, 200);
  EXPECT_GT(sum.planned, 0);
  EXPECT_GT(sum.left_out, 0);
}

TEST(Planned, AFullHostCorruptsNothing) {
  const PlannedSum sum = run_cases({.backend = host_backend, .may_fail = true, .host_limit = 32 * kKiB}, 200);
  EXPECT_GT(sum.planned, 0);
}

TEST(Planned, AnEmulatedLinkChangesNoByte) {
  const auto linked = [](std::uint64_t seed) -> std::unique_ptr<Backend> {
    return std::make_unique<HostBackend>(
        HostOptions{.link = {.bytes_per_second_out = 2'000'000'000,
                             .bytes_per_second_in = 3'000'000'000,
                             .bytes_per_second_both = seed % 2 ? 3'500'000'000 : 0,
                             .latency_out = 2'000,
                             .latency_in = 1'000}});
  };
  const PlannedSum sum = run_cases({.backend = linked}, 60);
  EXPECT_GT(sum.planned * 2, sum.cases);
}

TEST(Planned, ThreadsThatMallocAndFreeBesideItChangeNoByte) {
  const PlannedSum sum = run_cases({.backend = host_backend, .may_fail = true, .churn = true}, 120);
  EXPECT_GT(sum.planned_iterations, 0);
}

TEST(Planned, EveryPlannersPlansKeepEveryByte) {
  for (const Planner& planner : planners()) {
    std::printf("%s: ", std::string(planner.name).c_str());
    const PlannedSum sum = run_cases({.backend = host_backend, .planner = std::string(planner.name)}, 12);
    EXPECT_GT(sum.cases, 0) << planner.name;
  }
}

}  // namespace
}  // namespace ebb::testing
