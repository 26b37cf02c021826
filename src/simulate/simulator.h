// The one judge: a lowered plan, a machine and a limit in; step time, or the reason why not, out.
// The rules are in docs/notes/simulation.md; tests hold this against a slow reference, event for event.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "machine/machine.h"
#include "plan/lowered.h"
#include "plan/schedule.h"
#include "simulate/address_gates.h"
#include "simulate/timeline.h"

namespace ebb {

// What one steady iteration costs.
struct StepResult {
  std::optional<Infeasible> infeasible;  // if set, nothing else is meaningful
  Nanoseconds step_time = 0;
  Nanoseconds plain_time = 0;  // the same step with nothing moved and no limit
  int iterations = 0;          // simulated until the state repeated
  bool periodic = false;       // false: step_time is a mean
  std::array<Nanoseconds, kStallCauses> stalls{};
  Nanoseconds recompute_time = 0;  // nominal time of replayed ops
  Bytes bytes_out = 0;
  Bytes bytes_in = 0;
  Bytes peak_load = 0;    // resident bytes: no workspace, no unmanaged
  Bytes peak_demand = 0;  // everything: what the limit bounds
  Bytes host_peak = 0;
  bool operator==(const StepResult& other) const;

  double ratio() const { return static_cast<double>(step_time) / static_cast<double>(plain_time); }
};

// Prepared once per program and machine, then run millions of times. Not thread-safe: one per thread.
class Simulator {
 public:
  Simulator(const Program& program, const Gaps& gaps, const Machine& machine);
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  StepResult run(const LoweredPlan& plan, Bytes limit);
  // The same, and what happened in the last simulated iteration. The schedule is empty if no steady order was
  // found.
  StepResult run(const LoweredPlan& plan, Bytes limit, Timeline& timeline, Schedule& schedule);
  // The same where every residency has its addresses: who takes memory waits for those who held it before,
  // not for room anywhere. REQUIRES: gates of a layout that fits the limit.
  StepResult run(const LoweredPlan& plan, Bytes limit, const AddressGates& gates, Timeline& timeline,
                 Schedule& schedule);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace ebb
