// A plan and what it was made for, as a JSON file that people can read and the runtime can follow.
// docs/plan-format.md has every field.
//
//   {"format": "ebb-plan", "version": 1,
//    "program": {"name": "resnet50", "ops": 891, "fingerprint": "b6af…"}, "limit_bytes": …, "machine": {…}, …
//    "decisions": [
//     {"block":14,"from":7,"to":401,"kind":"between","action":"swap","out_after":57,"in_from":401},
//     {"block":34,"from":15,"to":395,"kind":"between","action":"recompute","stays":[]}]}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "machine/machine.h"
#include "plan/plan.h"

namespace ebb {

inline constexpr int kPlanVersion = 1;

struct PlanRecord {
  Bytes limit = 0;
  Machine machine;
  std::string planner;
  Plan plan;  // decisions to keep are not listed in the file
  bool operator==(const PlanRecord&) const = default;
};

// REQUIRES: `gaps` are the program's and the plan has a decision for each.
std::string encode_plan(const PlanRecord& record, const Program& program, const Gaps& gaps);
void write_plan(const std::string& path, const PlanRecord& record, const Program& program, const Gaps& gaps);

// Throws InputError that begins with `file` and names the field or the decision: text that is not such a
// file, another version, a plan for another program (by fingerprint), a gap the program does not have or that
// is decided twice, a value that is missing, unknown or out of range. Whether the decisions can be carried
// out is for `lower` to say.
PlanRecord decode_plan(std::string_view json, const std::string& file, const Program& program,
                       const Gaps& gaps);
PlanRecord read_plan(const std::string& path, const Program& program, const Gaps& gaps);

}  // namespace ebb
