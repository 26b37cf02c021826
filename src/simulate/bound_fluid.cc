#include "simulate/bound_fluid.h"

#include <algorithm>
#include <map>

#include "simulate/bound_reruns.h"

namespace ebb {
namespace {

using Column = LinearProgram::Column;
using Row = LinearProgram::Row;

// The linear program of one fluid bound. Time is in `unit`, memory in `byte_unit`.
class FluidProgram {
 public:
  FluidProgram(const BoundProblem& problem, const Checkpoints& points, const std::vector<Bytes>& need)
      : problem_(problem),
        points_(points),
        need_(need),
        unit_(static_cast<double>(std::max<Nanoseconds>(problem.compute_time, 1)) / 1e3),
        byte_unit_(static_cast<double>(std::max<Bytes>(*std::max_element(need.begin(), need.end()), 1))) {}

  Nanoseconds solve(const std::vector<const Absence*>& gaps, bool may_recompute) {
    add_memory_rows();
    add_link_rows(gaps);
    if (may_recompute) add_drops(gaps);
    for (const ContentClass& content : classify(gaps, problem_, points_)) add_swaps(content);
    const LpSolution solution = minimise(lp_, problem_.options.lp_seconds);
    return round_up(problem_, solution.bound * unit_);
  }

 private:
  std::size_t slice(int unrolled) const { return static_cast<std::size_t>(unrolled % points_.count()); }
  Column fraction() { return lp_.add_column(0, 0, 1); }

  void add_memory_rows() {
    for (OpIndex op : points_.ops()) {
      const Bytes need = std::max<Bytes>(need_[static_cast<std::size_t>(op)], 0);
      memory_.push_back(lp_.add_at_least(static_cast<double>(need) / byte_unit_));
    }
  }

  // Per slice, how long copies run beside computing (which they slow down) and beside waiting. Compute that
  // is stretched by s leaves a copy s times the nominal time: b / s of computing goes by in b of copying.
  void add_link_rows(const std::vector<const Absence*>& gaps) {
    const Machine& machine = problem_.machine;
    longest_ = 1e3;  // no optimal step takes longer than everything one after the other
    for (const Absence* gap : gaps) {
      longest_ +=
          static_cast<double>(machine.copy_out_time(gap->bytes) + machine.copy_in_time(gap->bytes)) / unit_;
      for (OpIndex op : gap->reruns)
        longest_ += static_cast<double>(problem_.op_time[static_cast<std::size_t>(op)]) / unit_;
    }
    const double stretch = static_cast<double>(machine.copy_stretch()) / 1e6;
    for (int s = 0; s < points_.count(); ++s) {
      const Nanoseconds computing = points_.compute_time(s, problem_.op_time);
      busy_.push_back(lp_.add_at_most(static_cast<double>(computing) / unit_));
      out_.push_back(lp_.add_at_most(0));
      in_.push_back(lp_.add_at_most(0));
      for (std::size_t mode = 1; mode <= 3; ++mode) {
        if (mode == 3 && machine.exclusive) continue;
        const double slow =
            problem_.options.slowdown ? static_cast<double>(machine.compute_stretch[mode]) / 1e6 : 1.0;
        const double speed = mode == 3 ? 1 / stretch : 1;
        const Column beside_compute = lp_.add_column(1 - 1 / slow, 0, longest_ * slow);
        const Column beside_waiting = lp_.add_column(1, 0, longest_);
        lp_.add_term(busy_.back(), beside_compute, 1 / slow);
        for (Column time : {beside_compute, beside_waiting}) {
          if (mode & 1) lp_.add_term(out_.back(), time, -speed);
          if (mode & 2) lp_.add_term(in_.back(), time, -speed);
        }
      }
    }
  }

  // Replays make time for copies: anywhere in the gap they end.
  void add_drops(const std::vector<const Absence*>& gaps) {
    std::vector<const Absence*> droppable;
    for (const Absence* gap : gaps)
      if (gap->droppable) droppable.push_back(gap);
    const DropColumns drops = add_drop_columns(lp_, problem_, droppable, unit_);
    for (std::size_t i = 0; i < droppable.size(); ++i) dropped_[droppable[i]] = drops.dropped[i];
    std::map<std::pair<int, int>, Row> ranges;
    for (const RerunColumn& rerun : drops.reruns) {
      if (lp_.cost(rerun.column) == 0) continue;
      const auto [first, last] = points_.between(rerun.from, rerun.to);
      const auto [it, is_new] = ranges.try_emplace({first, last}, 0);
      if (is_new) {
        it->second = lp_.add_at_most(0);
        for (int s = first; s <= last; ++s) {
          const Column time = lp_.add_column(0, 0, longest_);
          lp_.add_term(it->second, time, 1);
          lp_.add_term(busy_[slice(s)], time, -1);
        }
      }
      lp_.add_term(it->second, rerun.column, -lp_.cost(rerun.column));
    }
    for (const Absence* gap : droppable) {
      const auto [first, last] = points_.between(gap->from, gap->to);
      for (int u = first; u <= last; ++u)
        lp_.add_term(memory_[slice(u)], dropped_[gap], static_cast<double>(gap->bytes) / byte_unit_);
    }
  }

  // The columns of one class: what is absent at each checkpoint of each gap, and what is copied in each
  // slice.
  void add_swaps(const ContentClass& content) {
    Host host{.copied_to = content.write_slice};
    for (const ContentGap& gap : content.gaps) {
      Row in_row = -1;
      for (int u = gap.first; u <= gap.last; ++u) {
        const Column absent = fraction();
        lp_.add_term(memory_[slice(u)], absent, content.bytes / byte_unit_);
        limit_to_kept(gap, absent, content.bytes);
        if (gap.returns) in_row = add_return(content, u, absent, in_row);
        if (!content.has_host_copy) add_copy_out(content, u, absent, host);
      }
    }
  }

  // What is absent at checkpoint u and not at the next one comes in between.
  Row add_return(const ContentClass& content, int u, Column absent, Row row_before) {
    if (row_before >= 0) lp_.add_term(row_before, absent, -1);
    const Row row = lp_.add_at_most(0);
    lp_.add_term(row, absent, 1);
    const Column in = fraction();
    lp_.add_term(row, in, -1);
    lp_.add_term(in_[slice(u)], in, content.in_time / unit_);
    return row;
  }

  // What the host holds of a class while we walk along its gaps: `held` at the last checkpoint, copies up to
  // a slice.
  struct Host {
    Column held = -1;
    int copied_to = 0;
  };

  // What is absent at checkpoint u is on the host, and got there in some slice since the write: once for all
  // gaps.
  void add_copy_out(const ContentClass& content, int u, Column absent, Host& host) {
    Column held = absent;
    if (content.gaps.size() > 1) {
      held = fraction();
      const Row row = lp_.add_at_most(0);
      lp_.add_term(row, absent, 1);
      lp_.add_term(row, held, -1);
    }
    const Row row = lp_.add_at_most(0);
    lp_.add_term(row, held, 1);
    if (host.held >= 0) lp_.add_term(row, host.held, -1);
    for (; host.copied_to < u; ++host.copied_to) {
      const Column out = fraction();
      lp_.add_term(row, out, -1);
      lp_.add_term(out_[slice(host.copied_to)], out, content.out_time / unit_);
    }
    host.held = held;
  }

  // A block that is recomputed in the gap is not swapped in it too.
  void limit_to_kept(const ContentGap& gap, Column absent, double bytes) {
    if (dropped_.empty()) return;
    Row row = -1;
    for (const Absence* member : gap.members) {
      const auto it = dropped_.find(member);
      if (it == dropped_.end()) continue;
      if (row < 0) {
        row = lp_.add_at_most(1);
        lp_.add_term(row, absent, 1);
      }
      lp_.add_term(row, it->second, static_cast<double>(member->bytes) / bytes);
    }
  }

  const BoundProblem& problem_;
  const Checkpoints& points_;
  const std::vector<Bytes>& need_;
  double unit_;
  double byte_unit_;
  double longest_ = 0;
  LinearProgram lp_;
  std::vector<Row> memory_, busy_, out_, in_;
  std::map<const Absence*, Column> dropped_;
};

}  // namespace

Bound fluid_bound(const BoundProblem& problem, bool may_recompute) {
  std::vector<Bytes> need = problem.excess;
  std::vector<Bytes> absent(need.size(), 0);
  std::vector<const Absence*> gaps;
  for (const Absence& absence : problem.absences) {
    if (may_recompute && absence.droppable && !absence.returns) {
      add_over(absence, -absence.bytes, need);
      continue;
    }
    add_over(absence, absence.bytes, absent);
    gaps.push_back(&absence);
  }
  Bound bound{.kind = BoundKind::fluid, .holds_for = may_recompute ? PlanKind::any : PlanKind::swap_only};
  for (std::size_t k = 0; k < need.size(); ++k)
    bound.least_limit = std::max(bound.least_limit, problem.limit + need[k] - absent[k]);
  if (bound.least_limit > problem.limit) return bound;
  bound.step_time = problem.plain_time;
  if (*std::max_element(need.begin(), need.end()) <= 0) return bound;
  const Checkpoints points(need, problem.op_time, problem.options.slices);
  std::erase_if(gaps, [&](const Absence* gap) {
    const auto [first, last] = points.between(gap->from, gap->to);
    return first > last;
  });
  const Nanoseconds extra = FluidProgram(problem, points, need).solve(gaps, may_recompute);
  bound.step_time = std::max(problem.plain_time, problem.compute_time + extra);
  return bound;
}

}  // namespace ebb
