// The largest batch whose step a planner fits into a limit.
#pragma once

#include "planners/judge.h"
#include "trace/batch_model.h"

namespace ebb {

struct LargestBatch {
  std::int64_t batch = 0;  // 0: not even one sample
  JudgedPlan plan;         // of that batch, or why one sample does not fit
  // Samples per second.
  double throughput() const {
    return batch == 0 ? 0 : static_cast<double>(batch) * 1e9 / static_cast<double>(plan.step.step_time);
  }
};

// By bisection: what fits is taken to fit at every smaller batch. Searches that are given no budget get a
// small one on the way and their own at the end.
LargestBatch find_largest_batch(const BatchModel& model, const Machine& machine, Bytes limit,
                                const Planner& planner, const PlannerOptions& options);

}  // namespace ebb
