#include "planners/evaluator.h"

#include <gtest/gtest.h>

#include "machine/presets.h"
#include "planners/judge.h"
#include "trace/load.h"

namespace ebb {
namespace {

TEST(Evaluator, SaysWhatTheJudgeSays) {
  const Program program = load_program(EBB_SOURCE_DIR "/data/unet.json.gz");
  const Gaps gaps(program);
  const PlanningProblem problem{program, gaps, find_preset("h200"), program.peak_demand() * 6 / 10};
  const Plan plan = find_planner("ondemand").plan(problem, {}).plan;
  Evaluator evaluate(problem);
  EXPECT_TRUE(evaluate(Plan::keep_all(gaps)).infeasible);
  EXPECT_EQ(evaluate(plan), judge(problem, plan).step);
  EXPECT_EQ(evaluate.count(), 2);
}

}  // namespace
}  // namespace ebb
