#include "runtime/second_look.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "layout/address_waits.h"
#include "machine/scale.h"
#include "simulate/host_lane.h"

namespace ebb {
namespace {

constexpr Nanoseconds kAlike = 30;
constexpr Nanoseconds kQueuedOps = 1'000;  // may wait for compute, roughly
constexpr int kRounds = 3;                 // of calibration: not all of a step scales
constexpr double kProbe = 0.05;            // what bounds a step is longer by this share,
constexpr double kFollows = 0.5;           // and the step by half of that at least

Nanoseconds scaled(Nanoseconds time, double share) {
  return static_cast<Nanoseconds>(static_cast<double>(time) * share);
}

TimedStep with_longer_ops(const TimedStep& step, double share) {
  std::vector<Op> ops = step.program.ops();
  for (Op& op : ops) op.duration = scaled(op.duration, share);
  return {Program::build(step.program.info(), std::move(ops), step.program.blocks()), step.machine};
}

TimedStep with_other_host(const TimedStep& step, double share) {
  TimedStep other = step;
  for (Nanoseconds Machine::*issue : {&Machine::op_issue, &Machine::follow_issue, &Machine::replay_issue})
    other.machine.*issue = scaled(step.machine.*issue, share);
  return other;
}

// What a plan takes if ops and host take other times.
class PlanClock {
 public:
  explicit PlanClock(const PreparedPlan& plan)
      : plan_(plan), waits_(layout::address_waits(plan.arena, plan.layout)) {}
  Nanoseconds operator()(const Program& program, const Machine& machine) const {
    return replay(program, plan_.gaps, machine, plan_.lowered, plan_.schedule, {.waits = &waits_});
  }
  Nanoseconds operator()(const TimedStep& step) const { return (*this)(step.program, step.machine); }

 private:
  const PreparedPlan& plan_;
  const AddressWaits waits_;
};

// Nothing if the step does not follow what `change` does to a part of it that takes `all`.
std::optional<TimedStep> fitted(const TimedStep& step, const PlanClock& takes, Nanoseconds measured,
                                Nanoseconds all, TimedStep (*change)(const TimedStep&, double)) {
  const Nanoseconds longer = takes(change(step, 1 + kProbe)) - takes(step);
  if (all <= 0 || static_cast<double>(longer) < kFollows * kProbe * static_cast<double>(all))
    return std::nullopt;
  double share = 1;
  for (int round = 0; round < kRounds; ++round) {
    const auto off = static_cast<double>(measured - takes(change(step, share)));
    share = std::clamp(share + off / static_cast<double>(all), 0.5, 2.0);
  }
  return change(step, share);
}

}  // namespace

bool are_alike(Nanoseconds a, Nanoseconds b) { return std::abs(a - b) * kAlike <= std::max(a, b); }

Machine machine_for(const Program& program, Machine machine) {
  machine = stretched_as(std::move(machine), program);
  if (machine.op_issue > 0 && machine.host_lead == 0 && program.op_count() > 0)
    machine.host_lead = kQueuedOps * program.compute_time() / program.op_count();
  return machine;
}

TimedStep as_seen(const Program& program, const SeenTimes& seen, const Machine& machine) {
  std::vector<Op> ops = program.ops();
  for (std::size_t i = 0; i < ops.size(); ++i)
    ops[i].duration = seen.ops.median(static_cast<OpIndex>(i)).value_or(ops[i].duration);
  TimedStep step{Program::build(program.info(), std::move(ops), program.blocks()), machine};
  Nanoseconds host = 0, known = 0;
  for (OpIndex i = 0; i < program.op_count(); ++i)
    if (const std::optional<Nanoseconds> least = seen.host.least(i)) host += *least, ++known;
  if (known > 0) step.machine.op_issue = host / known;
  step.machine = machine_for(step.program, step.machine);
  return step;
}

bool is_made_for(const PreparedPlan& plan, const Program& program, const TimedStep& step) {
  return are_alike(step.program.compute_time(), program.compute_time()) &&
         are_alike(plain_step(step.program, step.machine), plan.step.plain_time);
}

Nanoseconds step_of(const PreparedPlan& plan, const Program& program, const Machine& machine) {
  return PlanClock(plan)(program, machine);
}

TimedStep calibrated(TimedStep step, const PreparedPlan& plan, Nanoseconds measured) {
  const PlanClock takes(plan);
  const Nanoseconds ops = step.program.compute_time();
  if (std::optional<TimedStep> found = fitted(step, takes, measured, ops, with_longer_ops)) return *found;
  const auto replays = static_cast<std::int64_t>(plan.lowered.replays.size());
  const Nanoseconds host = step.program.op_count() * (step.machine.op_issue + step.machine.follow_issue) +
                           replays * step.machine.replay_issue;
  if (measured >= takes(step)) return step;
  if (std::optional<TimedStep> found = fitted(step, takes, measured, host, with_other_host)) return *found;
  return step;
}

TimedStep seen_under(const PreparedPlan& plan, const Program& program, const SeenTimes& seen,
                     const Machine& machine) {
  TimedStep step = as_seen(program, seen, machine);
  return seen.step > 0 ? calibrated(std::move(step), plan, seen.step) : step;
}

bool still_holds(const PreparedPlan& plan, const Program& program, const TimedStep& step) {
  return is_made_for(plan, program, step) &&
         are_alike(step_of(plan, step.program, step.machine), plan.predicted_step);
}

}  // namespace ebb
