// What a report is about, and its data as the page reads it (report/src/data.ts is the other side).
#pragma once

#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/step_view.h"

namespace ebb::report {

// `steps[0]` is the plain step. A report of comparisons alone has no program.
struct Report {
  const Program* program = nullptr;
  const Gaps* gaps = nullptr;
  std::vector<StepView> steps = {};
  std::vector<Comparison> comparisons = {};
};

// Compact JSON: columns of numbers; bytes and nanoseconds; names once, in a table.
std::string encode_report(const Report& report);

}  // namespace ebb::report
