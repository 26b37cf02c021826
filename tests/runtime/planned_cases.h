// Random programs × random valid plans × random limits on a Device in planned mode: every byte read is that
// of a run without a limit, and the limit holds. Needs no gtest.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/program_runner.h"

namespace ebb::testing {

struct PlannedCase {
  std::uint64_t seed = 0;
  std::function<std::unique_ptr<Backend>(std::uint64_t seed)> backend = {};
  bool may_fail = false;                                        // BackendError and OutOfMemory may pass
  std::function<Variation(Random&, const Program&)> vary = {};  // every third iteration
  std::string planner = {};                                     // empty: random plans
  Bytes host_limit = 0;
  bool churn = false;        // another thread mallocs and frees
  bool looks_again = false;  // at the times of its plans, until no plan is made any more
  ByteAccess bytes = {};
};

// What cases did, added up.
struct PlannedSum {
  int cases = 0;
  int planned = 0;  // cases in which a plan was followed
  std::int64_t plans = 0;
  std::int64_t planned_iterations = 0;
  std::int64_t deviations = 0;
  std::int64_t fallbacks = 0;
  std::int64_t left_out = 0;
  std::int64_t displaced = 0;
  std::int64_t replays = 0;
  Bytes bytes_out = 0;
  int failures = 0;

  void add(const Device& device, bool was_planned);
  void print() const;
};

// What was wrong, or nothing.
std::string run_planned_case(const PlannedCase& one, PlannedSum& sum);

}  // namespace ebb::testing
