#include "simulate/bounds.h"

#include <algorithm>
#include <limits>

#include "simulate/bound_problem.h"

namespace ebb {
namespace {

double link_time(Bytes bytes, Bytes per_second) {
  return 1e9 * static_cast<double>(std::max<Bytes>(bytes, 0)) / static_cast<double>(per_second);
}

bool tighter(const Bound& a, const Bound& b) {
  if (!a.step_time || !b.step_time) return !a.step_time && b.step_time;
  return *a.step_time > *b.step_time;
}

}  // namespace

Bound compute_bound(const BoundProblem& problem) {
  return {.kind = BoundKind::compute, .holds_for = PlanKind::any, .step_time = problem.plain_time};
}

Bound transfer_bound(const BoundProblem& problem) {
  const std::size_t n = problem.op_time.size();
  std::vector<Bytes> absent(n, 0);    // all that may be absent
  std::vector<Bytes> trailing(n, 0);  // of it: never comes back
  std::vector<Bytes> on_host(n, 0);   // of it: leaves without a copy
  for (const Absence& absence : problem.absences) {
    add_over(absence, absence.bytes, absent);
    if (!absence.returns) add_over(absence, absence.bytes, trailing);
    if (absence.has_host_copy) add_over(absence, absence.bytes, on_host);
  }
  Bound bound{.kind = BoundKind::transfer, .holds_for = PlanKind::swap_only};
  Bytes out = 0;
  Bytes in = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const Bytes excess = problem.excess[k];
    bound.least_limit = std::max(bound.least_limit, problem.limit + excess - absent[k]);
    in = std::max(in, excess - trailing[k]);
    out = std::max(out, excess - on_host[k]);
  }
  if (bound.least_limit > problem.limit) return bound;
  const Machine& machine = problem.machine;
  const double out_time = link_time(out, machine.bandwidth_out);
  const double in_time = link_time(in, machine.bandwidth_in);
  // While both directions run each is stretched, so that time spent on one partly counts for the other.
  const double share =
      machine.exclusive ? 1 : std::min(1.0, static_cast<double>(machine.copy_stretch()) / 1e6 - 1);
  const double together = std::max(out_time, in_time) + share * std::min(out_time, in_time);
  bound.step_time = std::max(problem.plain_time, round_up(problem, together));
  return bound;
}

const Bound& Bounds::best(PlanKind kind) const {
  const Bound* best = &compute;
  for (const Bound* bound : {&transfer, &cover, &fluid_swap, &fluid})
    if ((bound->holds_for == kind || bound->holds_for == PlanKind::any) && tighter(*bound, *best))
      best = bound;
  return *best;
}

double Bounds::ratio(const Bound& bound) const {
  if (!bound.step_time) return std::numeric_limits<double>::infinity();
  return static_cast<double>(*bound.step_time) / static_cast<double>(std::max<Nanoseconds>(plain_time, 1));
}

Bounds bounds(const Program& program, const Gaps& gaps, const Machine& machine, Bytes limit,
              const BoundOptions& options) {
  const BoundProblem problem(program, gaps, machine, limit, options);
  return {.plain_time = problem.plain_time,
          .compute = compute_bound(problem),
          .transfer = transfer_bound(problem),
          .cover = cover_bound(problem),
          .fluid_swap = fluid_bound(problem, false),
          .fluid = fluid_bound(problem, true)};
}

std::string_view name_of(BoundKind kind) {
  switch (kind) {
    case BoundKind::compute:
      return "compute";
    case BoundKind::transfer:
      return "transfer";
    case BoundKind::cover:
      return "cover";
    case BoundKind::fluid:
      return "fluid";
  }
  return "?";
}

std::string_view name_of(PlanKind kind) {
  switch (kind) {
    case PlanKind::swap_only:
      return "swap only";
    case PlanKind::recompute_only:
      return "recompute only";
    case PlanKind::any:
      return "any plan";
  }
  return "?";
}

}  // namespace ebb
