// A judged plan as people and programs see it. Shared by `plan` and `simulate`.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/json.h"
#include "layout/packing.h"
#include "planners/judge.h"
#include "simulate/bounds.h"

namespace ebb::cli {

// What stays on the device under the plan, packed ([SP] §V: swap first, then lay out what is left).
struct PackedPlan {
  std::string algorithm;
  layout::Layout layout;
};

struct PlanResult {
  std::string trace;  // path
  std::string planner;
  std::string plan_file = {};  // written or read; may be empty
  const PlanningProblem& problem;
  const JudgedPlan& judged;
  std::optional<Bounds> bounds = {};
  std::optional<PackedPlan> packed = {};
  std::string smallest = {};  // the limit was looked for: how sure it is that there is no smaller one
};

// Throws std::logic_error if the validator objects to the schedule: then the simulator is wrong.
void check_schedule(const JudgedPlan& judged);

// The whole answer: the table or JSON, and the reason and exit code 1 if the plan cannot be carried out.
Answer answer_for(const PlanResult& result, bool json);

// "op 45 'aten::convolution' needs 12.2 GiB present, …", with the smallest limit if the limit is below it.
std::string reason_for(const PlanningProblem& problem, const Infeasible& infeasible);

}  // namespace ebb::cli
