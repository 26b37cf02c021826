#include "simulate/reference_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ebb {
namespace {

Nanoseconds ceil_div(__int128 a, std::int64_t b) { return static_cast<Nanoseconds>((a + b - 1) / b); }

}  // namespace

ReferenceEvents::ReferenceEvents(const Program& program, const Gaps& gaps, const Machine& machine,
                                 const LoweredPlan& lowered, Bytes limit, const ReferencePositions& positions,
                                 ReferenceRecord& record)
    : program_(program),
      gaps_(gaps),
      machine_(machine),
      lowered_(lowered),
      limit_(limit),
      n_(program.op_count()),
      positions_(positions),
      memory_(program, gaps, positions),
      record_(record) {
  for (OpIndex j = 0; j < n_; ++j) {
    for (const ReferenceStep& step : positions_.replay(j))
      items_.push_back({.position = j, .op = step.op, .step = &step});
    items_.push_back({.position = j, .op = j});
  }
  Nanoseconds compute = 0, host = 0;
  for (const Item& item : items_) {
    compute += machine_.op_time(program_.op(item.op));
    host += issue_of(item);
  }
  host += static_cast<Nanoseconds>(lowered_.outs.size() + lowered_.ins.size()) * machine_.copy_issue;
  if (host <= compute) host_free_ = -machine_.host_lead - op_issue();
}

std::optional<Infeasible> ReferenceEvents::run_iteration() {
  record_.begin_iteration(now_);
  note_peak();
  while (settle_now()) {
    const auto next = next_time();
    if (!next)
      return Infeasible{.obstacle = Obstacle::stuck,
                        .op = next_item().position,
                        .block = -1,
                        .needed = memory_.occupancy() + wanted(next_item()),
                        .available = limit_,
                        .detail = {}};
    now_ = *next;
  }
  return std::nullopt;
}

ReferenceBoundary ReferenceEvents::boundary() const {
  const auto iterations = static_cast<std::int64_t>(items_ended_ / items_.size());
  ReferenceBoundary state;
  state.outs_ahead =
      static_cast<std::int64_t>(outs_taken_) - iterations * static_cast<std::int64_t>(lowered_.outs.size());
  state.ins_ahead =
      static_cast<std::int64_t>(ins_started_) - iterations * static_cast<std::int64_t>(lowered_.ins.size());
  if (out_.active) state.out_left = left_now(out_);
  if (in_.active) state.in_left = left_now(in_);
  state.host_behind = host_free_no_further_ahead() - now_;
  state.occupancy = memory_.occupancy();
  return state;
}

void ReferenceEvents::end_running_copies() {
  settle_stretches();
  for (const Task* task : {&out_, &in_})
    if (task->active) record_.end_span(task->span, task->end);
}

bool ReferenceEvents::op_ended(int iteration, OpIndex op) const {
  return std::int64_t{iteration} * n_ + op < ops_ended_;
}

bool ReferenceEvents::released(const Transfer& t) const {
  return t.iteration < 0 || (out_ended(t) && op_ended(t.iteration, positions_.last_present(*t.swap)));
}

ReferenceEvents::Transfer ReferenceEvents::out_at(std::size_t i) const {
  const std::size_t m = lowered_.outs.size();
  return {&lowered_.swaps[static_cast<std::size_t>(lowered_.outs[i % m])], static_cast<int>(i / m)};
}

ReferenceEvents::Transfer ReferenceEvents::in_at(std::size_t i) const {
  const std::size_t m = lowered_.ins.size();
  const Swap& swap = lowered_.swaps[static_cast<std::size_t>(lowered_.ins[i % m])];
  return {&swap, static_cast<int>(i / m) - (positions_.returns_next_iteration(swap) ? 1 : 0)};
}

std::int64_t ReferenceEvents::needed_at(const Transfer& t) const {
  return std::int64_t{t.iteration} * n_ + t.swap->needed_at;
}

bool ReferenceEvents::settle_now() {
  for (bool changed = true; changed;) {
    const std::size_t ended_before = items_ended_;
    changed = end_tasks();
    const bool last_item = items_ended_ != ended_before && items_ended_ % items_.size() == 0;
    if (last_item) return false;
    changed |= begin_out();
    changed |= begin_item();
    changed |= begin_in();
  }
  settle_stretches();
  if (!compute_.active) record_.note_wait(*obstacle(), next_item().position, now_);
  record_.note_load(memory_.occupancy(), now_);
  return true;
}

bool ReferenceEvents::end_tasks() {
  bool any = false;
  if (compute_.active && compute_.end == now_) end_item(), any = true;
  if (out_.active && out_.end == now_) end_out(), any = true;
  if (in_.active && in_.end == now_) end_in(), any = true;
  return any;
}

void ReferenceEvents::end_item() {
  finish(compute_);
  const Item& item = items_[items_ended_ % items_.size()];
  const int iteration = static_cast<int>(items_ended_ / items_.size());
  ++items_ended_;
  memory_.end_workspace();
  if (!item.step) {
    ++ops_ended_;
    end_op(item.op, iteration);
    return;
  }
  memory_.end_step(*item.step, iteration);
}

void ReferenceEvents::end_op(OpIndex op, int iteration) {
  std::set<GapId> leaving;
  for (GapId g = 0; g < gaps_.count(); ++g) {
    const Gap& gap = gaps_[g];
    const Decision& decision = lowered_.plan[g];
    const auto dies_here = [&](int of) {
      return gap.kind == GapKind::trailing && (of * n_ + gap.to - 1) == iteration * n_ + op;
    };
    if (decision.action == Action::recompute) {
      bool leaves = gap.from == op && !positions_.kept_past(g, op);
      for (const OpRange& stay : *decision.stays) leaves |= stay.end - 1 == op && stay.end != gap.to;
      if (!leaves || dies_here(iteration)) continue;
      memory_.body(g, iteration).state = memory_.body(g, iteration).died ? State::dead : State::dropped;
      command(CommandKind::drop, kNoOp, g);
    }
    if (decision.action == Action::swap) {
      const auto swap = std::find_if(lowered_.swaps.begin(), lowered_.swaps.end(),
                                     [g](const Swap& s) { return s.gap == g; });
      const OpIndex last = positions_.last_present(*swap);
      const Transfer t{&*swap, last >= n_ ? iteration - 1 : iteration};
      if (t.iteration < 0 || t.iteration * n_ + last != iteration * n_ + op || !released(t)) continue;
      if (swap->clean && dies_here(t.iteration)) continue;
      memory_.body(g, t.iteration).state = State::on_host;
      if (swap->clean)
        command(CommandKind::drop, kNoOp, g);
      else
        leaving.insert(g);
    }
  }
  for (std::int32_t index : lowered_.outs)  // drops by gap, then releases in the order of the link
    if (const GapId g = lowered_.swaps[static_cast<std::size_t>(index)].gap; leaving.contains(g))
      command(CommandKind::release, kNoOp, g);
  memory_.end_lives(op, iteration);
}

void ReferenceEvents::end_out() {
  finish(out_);
  const Transfer t = out_.transfer;
  outs_ended_.insert(t);
  Body& leaving = memory_.body(t.swap->gap, t.iteration);
  leaving.state = State::resident;
  if (!released(t)) return;
  leaving.state = leaving.died ? State::dead : State::on_host;
  command(CommandKind::release, kNoOp, t.swap->gap);
}

void ReferenceEvents::end_in() {
  finish(in_);
  ins_ended_.insert(in_.transfer);
  memory_.body(in_.transfer.swap->gap, in_.transfer.iteration).state = State::resident;
}

bool ReferenceEvents::begin_out() {
  if (lowered_.outs.empty() || out_.active) return false;
  const auto dead = [&](const Transfer& t) {
    return gaps_[t.swap->gap].kind == GapKind::trailing && op_ended(t.iteration, gaps_[t.swap->gap].to - 1);
  };
  bool popped = false;
  for (; dead(out_at(outs_taken_)); ++outs_taken_) {
    outs_ended_.insert(out_at(outs_taken_));
    popped = true;
  }
  const Transfer t = out_at(outs_taken_);
  if ((machine_.exclusive && in_.active) || !op_ended(t.iteration, t.swap->out_after)) return popped;
  ++outs_taken_;
  memory_.body(t.swap->gap, t.iteration).state = State::leaving;
  record_.step().bytes_out += t.swap->bytes;
  command(CommandKind::start_out, kNoOp, t.swap->gap);
  host_free_ = host_free_no_further_ahead() + machine_.copy_issue;
  begin(out_, machine_.copy_out_time(t.swap->bytes), {.lane = Lane::out, .gap = t.swap->gap}).transfer = t;
  return true;
}

// Why the next item cannot start now; compute is idle.
std::optional<StallCause> ReferenceEvents::obstacle() const {
  const Item& item = next_item();
  const std::int64_t position = std::int64_t{compute_iteration()} * n_ + item.position;
  if (!item.step && record_.iteration_start() + program_.op(item.op).issue > now_) return StallCause::issue;
  if (host_free_ + issue_of(item) > now_) return StallCause::issue;
  for (int iteration = 0; iteration <= compute_iteration() + 1; ++iteration)
    for (const Swap& swap : lowered_.swaps)
      if (!swap.clean && swap.out_by != kAuto && std::int64_t{iteration} * n_ + swap.out_by <= position &&
          !out_ended({&swap, iteration}))
        return StallCause::sync;
  for (int iteration = -1; iteration <= compute_iteration(); ++iteration)
    for (std::int32_t index : lowered_.ins) {
      const Transfer t{&lowered_.swaps[static_cast<std::size_t>(index)], iteration};
      const bool before_time = iteration < 0 && !positions_.returns_next_iteration(*t.swap);
      if (!before_time && needed_at(t) <= position && !ins_ended_.contains(t)) return StallCause::copy_in;
    }
  if (memory_.occupancy() + wanted(item) > limit_) return StallCause::room;
  return std::nullopt;
}

bool ReferenceEvents::begin_item() {
  if (compute_.active || obstacle()) return false;
  record_.end_wait(now_);
  const Item item = next_item();
  const int iteration = compute_iteration();
  ++items_started_;
  command(item.step ? CommandKind::replay : CommandKind::run, item.op, -1);
  if (item.step) {
    memory_.begin_step(*item.step);
    record_.step().recompute_time += machine_.op_time(program_.op(item.op));
  } else {
    memory_.begin_op(item.op, iteration);
    for (const Access& access : program_.op(item.op).accesses)
      if (!memory_.has_operand(access.block, item.op, iteration))
        record_.disagree(
            fmt::format("op {} of iteration {} finds block {} absent", item.op, iteration, access.block));
  }
  note_peak();
  const Op& op = program_.op(item.op);
  host_free_ = std::max(host_free_ + issue_of(item), now_ - machine_.host_lead);
  begin(compute_, machine_.op_time(op),
        {.lane = Lane::compute, .replay = item.step != nullptr, .op = item.op});
  return true;
}

bool ReferenceEvents::begin_in() {
  if (lowered_.ins.empty() || in_.active || (machine_.exclusive && out_.active)) return false;
  const Transfer t = in_at(ins_started_);
  if (!op_ended(t.iteration, t.swap->in_from - 1) || !released(t)) return false;
  Bytes asked = memory_.occupancy() + t.swap->bytes;
  if (!compute_.active) {
    const std::int64_t position = std::int64_t{compute_iteration()} * n_ + next_item().position;
    if (needed_at(t) > position) asked += wanted(next_item());
  }
  if (asked > limit_) return false;
  ++ins_started_;
  memory_.body(t.swap->gap, t.iteration).state = State::returning;
  note_peak();
  record_.step().bytes_in += t.swap->bytes;
  command(CommandKind::start_in, kNoOp, t.swap->gap);
  host_free_ = host_free_no_further_ahead() + machine_.copy_issue;
  begin(in_, machine_.copy_in_time(t.swap->bytes), {.lane = Lane::in, .gap = t.swap->gap}).transfer = t;
  return true;
}

ReferenceEvents::Task& ReferenceEvents::begin(Task& task, Nanoseconds nominal, Span span) {
  task = Task{};
  task.active = task.fresh = true;
  task.left = nominal;
  task.since = now_;
  task.end = nominal == 0 ? now_ : std::numeric_limits<Nanoseconds>::max();  // until settled
  task.span = record_.begin_span(span, now_);
  return task;
}

void ReferenceEvents::finish(Task& task) {
  task.active = false;
  record_.end_span(task.span, task.end);
}

Nanoseconds ReferenceEvents::left_now(const Task& task) const {
  const auto done = static_cast<__int128>(now_ - task.since) * kUnit / task.stretch;
  return std::max<Nanoseconds>(0, task.left - static_cast<Nanoseconds>(done));
}

void ReferenceEvents::settle_stretches() {
  const std::int64_t copies = in_.active && out_.active ? machine_.copy_stretch() : kUnit;
  const auto slowdown = machine_.compute_stretch[(out_.active ? 1u : 0u) + (in_.active ? 2u : 0u)];
  for (const auto& [task, stretch] : {std::pair(&compute_, slowdown), {&out_, copies}, {&in_, copies}}) {
    if (!task->active || (!task->fresh && task->stretch == stretch)) continue;
    task->left = left_now(*task);
    task->fresh = false;
    task->stretch = stretch;
    task->since = now_;
    task->end = now_ + ceil_div(static_cast<__int128>(task->left) * stretch, kUnit);
  }
}

std::optional<Nanoseconds> ReferenceEvents::next_time() const {
  std::optional<Nanoseconds> next;
  const auto offer = [&](Nanoseconds time) { next = next ? std::min(*next, time) : time; };
  for (const Task* task : {&compute_, &out_, &in_})
    if (task->active) offer(task->end);
  if (!compute_.active)
    if (const Nanoseconds issued = host_free_ + issue_of(next_item()); issued > now_) offer(issued);
  if (!compute_.active && !next_item().step)
    if (const Nanoseconds issue = record_.iteration_start() + program_.op(next_item().op).issue; issue > now_)
      offer(issue);
  return next;
}

void ReferenceEvents::note_peak() {
  const Bytes occupancy = memory_.occupancy();
  record_.note_peak(memory_.resident_bytes(), occupancy);
  if (occupancy > limit_) record_.disagree(fmt::format("{} bytes at {}", occupancy, now_));
}

void ReferenceEvents::command(CommandKind kind, OpIndex op, GapId gap) {
  const auto first = static_cast<std::size_t>(record_.iteration()) * items_.size();
  record_.command(kind, op, gap, items_ended_ - first);
}

}  // namespace ebb
