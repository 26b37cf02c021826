#include "planners/recompute/evicted_costs.h"

#include <gtest/gtest.h>

#include "chain_programs.h"

namespace ebb {
namespace {

// Results a → b → c → d, op i takes 10, 20, 40, 80; all four made.
struct Row {
  Program program = literal_program({op({writes(0)}, 10), op({reads(0), writes(1)}, 20),
                                     op({reads(1), writes(2)}, 40), op({reads(2), writes(3)}, 80)},
                                    {local(1, 0, 1), local(1, 1, 2), local(1, 2, 3), local(1, 3, 3)});
  Machine machine = any_machine();
  EvictedCosts costs;
  std::array<VersionId, 4> result;
  explicit Row(LossMeasure measure) : costs(program, machine, measure) {
    for (OpIndex i = 0; i < 4; ++i) {
      result[static_cast<std::size_t>(i)] = program.outputs(i)[0].version;
      costs.found(result[static_cast<std::size_t>(i)]);
    }
  }
};

TEST(EvictedCosts, WithNothingLostAllMeasuresAreTheOpsOwnCost) {
  for (LossMeasure measure : {LossMeasure::local, LossMeasure::neighbourhood, LossMeasure::classes}) {
    Row row(measure);
    EXPECT_EQ(row.costs.cost(row.result[1]), 20);
  }
}

TEST(EvictedCosts, LostNeighboursCountThroughEachOtherAndInBothDirections) {
  for (LossMeasure measure : {LossMeasure::neighbourhood, LossMeasure::classes}) {
    Row row(measure);
    EXPECT_EQ(row.costs.cost(row.result[0]), 10);
    row.costs.lost(row.result[1]);
    row.costs.lost(row.result[2]);
    EXPECT_EQ(row.costs.cost(row.result[0]), 10 + 20 + 40);
    EXPECT_EQ(row.costs.cost(row.result[3]), 80 + 40 + 20);
  }
  Row row(LossMeasure::local);
  row.costs.lost(row.result[1]);
  EXPECT_EQ(row.costs.cost(row.result[0]), 10);
}

TEST(EvictedCosts, WhatReturnsNoLongerCounts) {
  for (LossMeasure measure : {LossMeasure::neighbourhood, LossMeasure::classes}) {
    Row row(measure);
    row.costs.lost(row.result[1]);
    row.costs.lost(row.result[2]);
    row.costs.found(row.result[1]);
    EXPECT_EQ(row.costs.cost(row.result[0]), 10);
    EXPECT_EQ(row.costs.cost(row.result[1]), 20 + 40);
    EXPECT_EQ(row.costs.cost(row.result[3]), 80 + 40);
  }
}

// b and d are lost beside c, which is lost too and returns: the exact measure sees two rows of one, the
// classes still have b and d together.
TEST(EvictedCosts, AClassIsNotSplitWhenItsMiddleReturns) {
  for (LossMeasure measure : {LossMeasure::neighbourhood, LossMeasure::classes}) {
    Row row(measure);
    for (std::size_t i : {1u, 2u, 3u}) row.costs.lost(row.result[i]);
    row.costs.found(row.result[2]);
    EXPECT_EQ(row.costs.cost(row.result[0]), measure == LossMeasure::classes ? 10 + 20 + 80 : 10 + 20);
  }
}

}  // namespace
}  // namespace ebb
