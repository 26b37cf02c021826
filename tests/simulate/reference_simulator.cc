#include "simulate/reference_simulator.h"

#include <algorithm>

#include "simulate/reference_events.h"
#include "simulate/reference_positions.h"
#include "simulate/reference_record.h"

namespace ebb {
namespace {

std::optional<Infeasible> misfit_by_position(const Program& program, const Machine& machine,
                                             const ReferencePositions& positions, Bytes limit) {
  for (OpIndex j = 0; j < program.op_count(); ++j)
    if (positions.need(j) > limit)
      return Infeasible{.obstacle = Obstacle::too_large,
                        .op = j,
                        .block = -1,
                        .needed = positions.need(j),
                        .available = limit,
                        .detail = {}};
  if (machine.host_bytes > 0 && positions.host_peak() > machine.host_bytes)
    return Infeasible{.obstacle = Obstacle::host_full,
                      .op = kNoOp,
                      .block = -1,
                      .needed = positions.host_peak(),
                      .available = machine.host_bytes,
                      .detail = {}};
  return std::nullopt;
}

Nanoseconds plain_time(const Program& program, const Machine& machine) {
  if (machine.op_issue == 0 && machine.replay_issue == 0 && machine.copy_issue == 0) {
    Nanoseconds time = 0;
    for (const Op& op : program.ops()) time = std::max(time, op.issue) + machine.op_time(op);
    return time;
  }
  Nanoseconds compute = 0;
  for (const Op& op : program.ops()) compute += machine.op_time(op);
  const bool slow_host = program.op_count() * machine.op_issue > compute;
  Nanoseconds issued = slow_host ? machine.op_issue : -machine.host_lead, ended = 0, began = 0;
  for (int iteration = 0; iteration < 4; ++iteration) {
    began = ended;
    for (const Op& op : program.ops()) {
      const Nanoseconds start = std::max(std::max(ended, issued), began + op.issue);
      issued = std::max(issued, start - machine.host_lead) + machine.op_issue;
      ended = start + machine.op_time(op);
    }
  }
  return ended - began;
}

// Iterations until the state at the end of one is that at its start, four at most.
void repeat_until_steady(ReferenceEvents& events, ReferenceResult& result) {
  std::vector<Nanoseconds> starts = {0};
  ReferenceBoundary last = events.boundary();
  for (std::size_t done = 1; done <= 4; ++done) {
    result.step.infeasible = events.run_iteration();
    if (result.step.infeasible) return;
    const ReferenceBoundary state = events.boundary();
    starts.push_back(events.now());
    result.step.iterations = static_cast<int>(done);
    if (state == last) {
      result.step.periodic = true;
      result.step.step_time = starts[done] - starts[done - 1];
      break;
    }
    if (done == 4) {
      result.step.step_time = (starts[4] - starts[1]) / 3;
      if (!state.same_order(last)) result.schedule.commands.clear();
    }
    last = state;
  }
  events.end_running_copies();
}

}  // namespace

ReferenceResult reference_simulate(const Program& program, const Gaps& gaps, const Machine& machine,
                                   const LoweredPlan& lowered, Bytes limit) {
  ReferenceResult result;
  const ReferencePositions positions(program, gaps, lowered);
  result.disagreements = positions.disagreements();
  result.step.infeasible = misfit_by_position(program, machine, positions, limit);
  if (result.step.infeasible) return result;
  result.step.host_peak = positions.host_peak();
  result.step.plain_time = plain_time(program, machine);
  ReferenceRecord record(result);
  ReferenceEvents events(program, gaps, machine, lowered, limit, positions, record);
  repeat_until_steady(events, result);
  return result;
}

}  // namespace ebb
