#include "runtime/remembered_ops.h"

#include <gtest/gtest.h>

#include "literal_programs.h"

namespace ebb::testing {
namespace {

constexpr Bytes kBytes = 64 * kKiB;

std::vector<bool> remembered(const Program& program, const PlanFunction& plan, Bytes capacity) {
  const Machine machine{.name = "links", .bandwidth_out = 1'000'000'000, .bandwidth_in = 1'000'000'000};
  const Preparation made = prepare_plan(program, machine, {.plan = plan, .capacity = capacity});
  if (!made.plan) throw std::logic_error(made.refusal);
  const std::vector<std::vector<BlockId>> none(program.ops().size());
  return remembered_ops(program, *made.plan, none);
}

TEST(RememberedOps, WhatIsReplayed) {
  const Program program = literal_program({op({writes(0)}), op({writes(1)}), op({reads(1)}), op({reads(0)})},
                                          {local(kBytes, 0, 3), local(kBytes, 1, 2)});
  const auto plan = [](const PlanningProblem& problem, const PlannerOptions&) {
    PlanningResult result{.plan = Plan::keep_all(problem.gaps)};
    result.plan[problem.gaps.find(0, 0)] = recompute_it();
    return result;
  };
  EXPECT_EQ(remembered(program, plan, 2 * kBytes - 1), (std::vector<bool>{true, false, false, false}));
}

// Block 1 is made from block 0 and nobody reads it after op 2, although it dies at op 4: it is dropped and
// never made again. When that happens block 0 is dropped as well.
TEST(RememberedOps, WhatCouldRemakeABlockThatNobodyWillAskFor) {
  const Program program = literal_program(
      {op({writes(0)}), op({reads(0), writes(1)}), op({reads(1)}), op({writes(2)}), op({reads(2)})},
      {local(kBytes, 0, 4), local(kBytes, 1, 4), local(kBytes, 3, 4)});
  const auto plan = [](const PlanningProblem& problem, const PlannerOptions&) {
    PlanningResult result{.plan = Plan::keep_all(problem.gaps)};
    result.plan[problem.gaps.find(0, 1)] = recompute_it();
    result.plan[problem.gaps.find(1, 2)] = recompute_it();
    return result;
  };
  EXPECT_EQ(remembered(program, plan, 2 * kBytes), (std::vector<bool>{true, true, false, false, false}));
}

}  // namespace
}  // namespace ebb::testing
