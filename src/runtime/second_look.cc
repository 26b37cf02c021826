#include "runtime/second_look.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "layout/address_waits.h"

namespace ebb {
namespace {

constexpr Nanoseconds kAlike = 30;
constexpr int kRounds = 3;           // of calibration: copies that wait do not scale with ops
constexpr Nanoseconds kLonger = 20;  // if ops are longer by a 20th,
constexpr Nanoseconds kFollows = 2;  // the step has to be longer by half as much, or copies bound it

// No op is shorter than this if all of them together are to be that long. REQUIRES: they are shorter.
Nanoseconds least_op_time(const Program& program, Nanoseconds total) {
  std::vector<Nanoseconds> times;
  for (const Op& op : program.ops()) times.push_back(op.duration);
  std::sort(times.begin(), times.end(), std::greater<>());
  auto of = static_cast<Nanoseconds>(times.size());
  for (const Nanoseconds longest : times) {
    if (longest * of <= total) break;
    total -= longest;
    --of;
  }
  return of > 0 ? total / of : 0;
}

// Where ops take longer together than each by itself, it is because of what comes with each of them, however
// short it is: the shortest become longer.
Program of_length(const Program& program, Nanoseconds total) {
  std::vector<Op> ops = program.ops();
  const Nanoseconds before = program.compute_time();
  const Nanoseconds least = total > before ? least_op_time(program, total) : 0;
  const double share = std::min(1.0, static_cast<double>(total) / static_cast<double>(before));
  for (Op& op : ops)
    op.duration = std::max(least, static_cast<Nanoseconds>(static_cast<double>(op.duration) * share));
  return Program::build(program.info(), std::move(ops), program.blocks());
}

}  // namespace

bool are_alike(Nanoseconds a, Nanoseconds b) { return std::abs(a - b) * kAlike <= std::max(a, b); }

Nanoseconds SeenTimes::total(const Program& program) const {
  Nanoseconds sum = 0;
  for (OpIndex i = 0; i < program.op_count(); ++i) sum += ops.median(i).value_or(program.op(i).duration);
  return std::max(sum, host);
}

Program with_times(const Program& program, const SeenTimes& seen) {
  std::vector<Op> ops = program.ops();
  for (std::size_t i = 0; i < ops.size(); ++i)
    ops[i].duration = seen.ops.median(static_cast<OpIndex>(i)).value_or(ops[i].duration);
  Program result = Program::build(program.info(), std::move(ops), program.blocks());
  const Nanoseconds total = result.compute_time();
  return total > 0 && total < seen.host ? of_length(result, seen.host) : result;
}

Nanoseconds step_of(const PreparedPlan& plan, const Program& program, const Machine& machine) {
  const AddressWaits waits = layout::address_waits(plan.arena, plan.layout);
  return replay(program, plan.gaps, machine, plan.lowered, plan.schedule, {.waits = &waits});
}

Program calibrated(const Program& program, const PreparedPlan& plan, const Machine& machine,
                   Nanoseconds step) {
  const Nanoseconds seen = program.compute_time();
  if (seen == 0) return program;
  const Nanoseconds more = seen / kLonger;
  const Nanoseconds longer = step_of(plan, of_length(program, seen + more), machine);
  if (longer - step_of(plan, program, machine) < more / kFollows) return program;
  Program result = program;
  for (int round = 0; round < kRounds; ++round) {
    const Nanoseconds off = step - step_of(plan, result, machine);
    result = of_length(program, std::clamp(result.compute_time() + off, seen / 2, 2 * seen));
  }
  return result;
}

}  // namespace ebb
