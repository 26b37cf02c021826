#include "simulate/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "simulate/compiled_plan.h"
#include "simulate/stretch.h"

namespace ebb {
namespace {

constexpr Bytes kNoLimit = std::numeric_limits<Bytes>::max() / 2;
constexpr int kMostIterations = 4;

// What has to repeat for the iteration to be steady. Queue counts are relative to the iteration.
struct BoundaryState {
  std::int64_t outs_started = 0;
  std::int64_t ins_started = 0;
  bool out_active = false;
  bool in_active = false;
  Nanoseconds out_left = 0;
  Nanoseconds in_left = 0;
  Nanoseconds issue_debt = 0;
  Bytes occupancy = 0;
  bool operator==(const BoundaryState&) const = default;

  bool same_order(const BoundaryState& other) const {
    return outs_started == other.outs_started && ins_started == other.ins_started &&
           out_active == other.out_active && in_active == other.in_active;
  }
};

}  // namespace

bool StepResult::operator==(const StepResult& other) const {
  if (infeasible.has_value() || other.infeasible.has_value())
    return infeasible.has_value() == other.infeasible.has_value() &&
           infeasible->obstacle == other.infeasible->obstacle;
  return step_time == other.step_time && plain_time == other.plain_time && iterations == other.iterations &&
         periodic == other.periodic && stalls == other.stalls && recompute_time == other.recompute_time &&
         bytes_out == other.bytes_out && bytes_in == other.bytes_in && peak_load == other.peak_load &&
         peak_demand == other.peak_demand && host_peak == other.host_peak;
}

// The event loop of docs/notes/simulation.md. All counts are over all iterations; `*_base_` is what one
// iteration listed before the current one.
class Simulator::Engine {
 public:
  Engine(const Program& program, const Gaps& gaps, const Machine& machine)
      : program_(program),
        machine_(machine),
        compiler_(program, gaps, machine),
        copy_stretch_(machine.copy_stretch()) {
    for (const Op& op : program.ops()) plain_ = std::max(plain_, op.issue) + machine.op_time(op);
  }

  template <bool kRecord>
  StepResult run(const LoweredPlan& plan, Bytes limit, const AddressGates* gates, Timeline* timeline,
                 Schedule* schedule) {
    StepResult result;
    for (OpIndex j = 0; j < program_.op_count(); ++j)
      if (const Bytes need = plan.need[static_cast<std::size_t>(j)]; need > limit) {
        result.infeasible = Infeasible{Obstacle::too_large, j, -1, need, limit, ""};
        return result;
      }
    const Bytes host = machine_.host_bytes;
    if (host > 0 && plan.host_peak > host) {
      result.infeasible = Infeasible{Obstacle::host_full, kNoOp, -1, plan.host_peak, host, ""};
      return result;
    }
    compiler_.compile(plan, gates, compiled_);
    limit_ = gates == nullptr ? limit : kNoLimit;
    timeline_ = timeline;
    schedule_ = schedule;
    start();
    if (!simulate<kRecord>(result)) return result;
    result.plain_time = plain_;
    result.stalls = stalls_;
    for (const Item& item : compiled_.items)
      if (item.replay) result.recompute_time += item.duration;
    result.bytes_out = bytes_out_;
    result.bytes_in = bytes_in_;
    result.peak_load = peak_load_;
    result.peak_demand = peak_demand_;
    result.host_peak = plan.host_peak;
    return result;
  }

 private:
  void start();
  template <bool kRecord>
  void begin_iteration();
  template <bool kRecord>
  bool simulate(StepResult& result);
  template <bool kRecord>
  bool end_tasks();
  template <bool kRecord>
  void end_item();
  template <bool kRecord>
  void end_copy_out();
  template <bool kRecord>
  bool start_copy_out();
  template <bool kRecord>
  bool start_item();
  template <bool kRecord>
  bool start_copy_in();
  void settle_stretches();
  void end_open_spans();
  StallCause waiting_for() const;
  template <bool kRecord>
  void charge_wait(Nanoseconds until);
  BoundaryState boundary_state() const;

  const Item& item() const { return compiled_.items[static_cast<std::size_t>(item_)]; }
  std::int64_t item_count() const { return static_cast<std::int64_t>(compiled_.items.size()); }
  std::int64_t out_count() const { return static_cast<std::int64_t>(compiled_.outs.size()); }
  std::int64_t in_count() const { return static_cast<std::int64_t>(compiled_.ins.size()); }
  std::int64_t ended() const { return item_base_ + item_; }
  bool fits_now() const {
    return occupancy_ + item().need <= limit_ && outs_done_ >= iteration_ * out_count() + item().room_outs;
  }
  void grow(Bytes bytes, Bytes workspace) {
    occupancy_ += bytes;
    peak_demand_ = std::max(peak_demand_, occupancy_);
    peak_load_ = std::max(peak_load_, occupancy_ - program_.info().unmanaged - workspace);
  }
  void log(CommandKind kind, OpIndex op, GapId gap) {
    // What ends in step (a) at the end of an iteration still belongs to it.
    const std::int64_t count = closing_ ? item_count() : item_;
    schedule_->commands.push_back({kind, op, gap, static_cast<std::int32_t>(count)});
  }

  const Program& program_;
  const Machine machine_;
  PlanCompiler compiler_;
  CompiledPlan compiled_;
  const std::int64_t copy_stretch_;
  Nanoseconds plain_ = 0;
  Bytes limit_ = 0;
  Timeline* timeline_ = nullptr;
  Schedule* schedule_ = nullptr;

  Nanoseconds now_ = 0;
  Nanoseconds iteration_start_ = 0;
  Task compute_, out_, in_;
  Nanoseconds issue_debt_ = 0;  // of the next item: what the host took for copies since the last one began
  std::int64_t item_ = 0;       // the running item, or the next one to run, in this iteration
  std::int64_t item_base_ = 0;
  std::int64_t iteration_ = 0;
  // Queues: started counts include skipped and running copies; index and iteration of the next one to start.
  std::int64_t outs_started_ = 0, outs_done_ = 0, ins_started_ = 0, ins_done_ = 0;
  std::int32_t next_out_ = 0, next_in_ = 0;
  std::int64_t next_out_items_ = 0, next_in_items_ = 0, next_in_outs_ = 0;  // bases of their iterations
  std::int64_t next_in_iteration_ = 0;
  Bytes occupancy_ = 0;
  Bytes peak_demand_ = 0, peak_load_ = 0;
  std::array<Nanoseconds, kStallCauses> stalls_{};
  Bytes bytes_out_ = 0, bytes_in_ = 0;
  bool iteration_ended_ = false;
  bool closing_ = false;
  std::size_t compute_span_ = 0;
  std::size_t out_span_ = 0,
              in_span_ = 0;  // where the running copies are in the timeline; kNoSpan: not in this one
  static constexpr std::size_t kNoSpan = std::numeric_limits<std::size_t>::max();
};

void Simulator::Engine::start() {
  now_ = iteration_start_ = 0;
  compute_ = out_ = in_ = Task{};
  issue_debt_ = 0;
  item_ = item_base_ = iteration_ = 0;
  outs_started_ = outs_done_ = ins_started_ = ins_done_ = 0;
  next_out_ = next_in_ = 0;
  next_out_items_ = next_in_items_ = next_in_outs_ = next_in_iteration_ = 0;
  occupancy_ = compiled_.initial;
  out_span_ = in_span_ = kNoSpan;
}

template <bool kRecord>
void Simulator::Engine::begin_iteration() {
  iteration_start_ = now_;
  stalls_ = {};
  bytes_out_ = bytes_in_ = 0;
  peak_demand_ = occupancy_;
  peak_load_ = occupancy_ - program_.info().unmanaged;
  iteration_ended_ = closing_ = false;
  if constexpr (kRecord) {
    *timeline_ = {};
    schedule_->commands.clear();
    out_span_ = in_span_ = kNoSpan;
  }
}

BoundaryState Simulator::Engine::boundary_state() const {
  return {outs_started_ - iteration_ * out_count(),
          ins_started_ - iteration_ * in_count(),
          out_.active,
          in_.active,
          out_.left(now_),
          in_.left(now_),
          issue_debt_,
          occupancy_};
}

template <bool kRecord>
bool Simulator::Engine::simulate(StepResult& result) {
  BoundaryState previous = boundary_state();
  Nanoseconds first_end = 0;
  begin_iteration<kRecord>();
  for (;;) {
    for (bool changed = true; changed;) {
      changed = end_tasks<kRecord>();
      if (iteration_ended_) {
        const Nanoseconds step = now_ - iteration_start_;
        const BoundaryState state = boundary_state();
        if constexpr (kRecord)
          if (!state.same_order(previous)) schedule_->commands.clear();
        result.iterations = static_cast<int>(iteration_);
        result.periodic = state == previous;
        if (result.periodic || iteration_ == kMostIterations) {
          result.step_time = result.periodic ? step : (now_ - first_end) / (kMostIterations - 1);
          if constexpr (kRecord) end_open_spans();
          return true;
        }
        if (iteration_ == 1) first_end = now_;
        previous = state;
        begin_iteration<kRecord>();
      }
      changed |= start_copy_out<kRecord>();
      changed |= start_item<kRecord>();
      changed |= start_copy_in<kRecord>();
    }
    settle_stretches();
    if constexpr (kRecord)
      if (timeline_->load.empty() || timeline_->load.back().bytes != occupancy_)
        timeline_->load.push_back({now_ - iteration_start_, occupancy_});
    Nanoseconds next = kEndOfTime;
    if (compute_.active) next = compute_.end;
    if (out_.active) next = std::min(next, out_.end);
    if (in_.active) next = std::min(next, in_.end);
    if (!compute_.active) {
      const Nanoseconds issue = iteration_start_ + item().issue;
      if (issue > now_) next = std::min(next, issue);
      if (next == kEndOfTime) {
        result.infeasible = Infeasible{Obstacle::stuck,
                                       item().position,
                                       -1,
                                       occupancy_ + item().need,
                                       limit_,
                                       fmt::format("{} of {} bytes are taken", occupancy_, limit_)};
        return false;
      }
      charge_wait<kRecord>(next);
    }
    now_ = next;
  }
}

// Copies that run on into the next iteration end as if nothing else started.
void Simulator::Engine::end_open_spans() {
  settle_stretches();
  if (out_.active && out_span_ != kNoSpan) timeline_->spans[out_span_].end = out_.end - iteration_start_;
  if (in_.active && in_span_ != kNoSpan) timeline_->spans[in_span_].end = in_.end - iteration_start_;
}

template <bool kRecord>
bool Simulator::Engine::end_tasks() {
  bool ended = false;
  if (compute_.active && compute_.end == now_) {
    end_item<kRecord>();
    ended = true;
  }
  if (out_.active && out_.end == now_) {
    end_copy_out<kRecord>();
    ended = true;
  }
  if (in_.active && in_.end == now_) {
    in_.active = false;
    ++ins_done_;
    if constexpr (kRecord)
      if (in_span_ != kNoSpan) timeline_->spans[in_span_].end = now_ - iteration_start_;
    ended = true;
  }
  return ended;
}

template <bool kRecord>
void Simulator::Engine::end_item() {
  const Item& done = item();
  const auto index = static_cast<std::size_t>(item_);
  compute_.active = false;
  occupancy_ -= done.frees;
  ++item_;
  if (item_ == item_count()) {
    iteration_ended_ = closing_ = true;
    item_ = 0;
    item_base_ += item_count();
    ++iteration_;
  }
  if constexpr (kRecord) {
    timeline_->spans[compute_span_].end = now_ - iteration_start_;
    for (auto k = compiled_.drop_first[index]; k < compiled_.drop_first[index + 1]; ++k)
      log(CommandKind::drop, kNoOp, compiled_.drop_list[static_cast<std::size_t>(k)]);
  }
  if (!done.has_end_work) return;
  const std::int64_t base = (iteration_ - (iteration_ended_ ? 1 : 0)) * out_count();
  for (auto k = compiled_.release_first[index]; k < compiled_.release_first[index + 1]; ++k) {
    const std::int32_t copy = compiled_.release_list[static_cast<std::size_t>(k)];
    if (base + copy >= outs_done_) continue;
    occupancy_ -= compiled_.outs[static_cast<std::size_t>(copy)].bytes;
    if constexpr (kRecord)
      log(CommandKind::release, kNoOp, compiled_.outs[static_cast<std::size_t>(copy)].gap);
  }
  for (auto k = compiled_.death_first[index]; k < compiled_.death_first[index + 1]; ++k) {
    const std::int64_t copy = compiled_.death_list[static_cast<std::size_t>(k)];
    if (base + copy < outs_started_) continue;
    const std::int64_t listed = copy < 0 ? copy + out_count() : copy;
    occupancy_ -= compiled_.outs[static_cast<std::size_t>(listed)].bytes;
  }
}

template <bool kRecord>
void Simulator::Engine::end_copy_out() {
  const std::int32_t index = next_out_ > 0 ? next_out_ - 1 : static_cast<std::int32_t>(out_count()) - 1;
  const std::int64_t base = next_out_ > 0 ? next_out_items_ : next_out_items_ - item_count();
  const OutCopy& copy = compiled_.outs[static_cast<std::size_t>(index)];
  out_.active = false;
  ++outs_done_;
  if constexpr (kRecord)
    if (out_span_ != kNoSpan) timeline_->spans[out_span_].end = now_ - iteration_start_;
  if (base + copy.release_after > ended()) return;  // its last reader has not ended
  occupancy_ -= copy.bytes;
  if constexpr (kRecord) log(CommandKind::release, kNoOp, copy.gap);
}

template <bool kRecord>
bool Simulator::Engine::start_copy_out() {
  if (out_.active || compiled_.outs.empty()) return false;
  bool changed = false;
  for (;;) {
    const OutCopy& copy = compiled_.outs[static_cast<std::size_t>(next_out_)];
    if (ended() < next_out_items_ + copy.start_after) return changed;
    const bool skipped = ended() >= next_out_items_ + copy.dies_after;
    if (!skipped && machine_.exclusive && in_.active) return changed;
    ++outs_started_;
    if (++next_out_ == static_cast<std::int32_t>(out_count())) {
      next_out_ = 0;
      next_out_items_ += item_count();
    }
    changed = true;
    if (skipped) {
      ++outs_done_;
      continue;
    }
    out_.start(now_, copy.duration, in_.active ? copy_stretch_ : kUnstretched);
    issue_debt_ += machine_.copy_issue;
    bytes_out_ += copy.bytes;
    if constexpr (kRecord) {
      log(CommandKind::start_out, kNoOp, copy.gap);
      out_span_ = timeline_->spans.size();
      timeline_->spans.push_back({.lane = Lane::out, .gap = copy.gap, .start = now_ - iteration_start_});
    }
    return true;
  }
}

template <bool kRecord>
bool Simulator::Engine::start_item() {
  if (compute_.active) return false;
  const Item& next = item();
  if (!fits_now() || ins_done_ < iteration_ * in_count() + next.ins_done ||
      outs_done_ < iteration_ * out_count() + next.outs_done || now_ < iteration_start_ + next.issue)
    return false;
  grow(next.need, next.workspace);
  const auto active = static_cast<std::size_t>((out_.active ? 1 : 0) + (in_.active ? 2 : 0));
  compute_.start(now_, next.duration + std::exchange(issue_debt_, 0), machine_.compute_stretch[active]);
  if constexpr (kRecord) {
    log(next.replay ? CommandKind::replay : CommandKind::run, next.op, -1);
    compute_span_ = timeline_->spans.size();
    timeline_->spans.push_back(
        {.lane = Lane::compute, .replay = next.replay, .op = next.op, .start = now_ - iteration_start_});
  }
  return true;
}

template <bool kRecord>
bool Simulator::Engine::start_copy_in() {
  if (in_.active || compiled_.ins.empty()) return false;
  if (machine_.exclusive && out_.active) return false;
  const InCopy& copy = compiled_.ins[static_cast<std::size_t>(next_in_)];
  if (ended() < next_in_items_ + copy.start_after || outs_done_ < next_in_outs_ + copy.own_out) return false;
  Bytes room = limit_ - occupancy_ - copy.bytes;
  const bool needed_now = next_in_iteration_ < iteration_ ||
                          (next_in_iteration_ == iteration_ && copy.needed_position <= item().position);
  if (!compute_.active && !needed_now) room -= item().need;
  if (room < 0) return false;
  ++ins_started_;
  if (++next_in_ == static_cast<std::int32_t>(in_count())) {
    next_in_ = 0;
    ++next_in_iteration_;
    next_in_items_ += item_count();
    next_in_outs_ += out_count();
  }
  in_.start(now_, copy.duration, out_.active ? copy_stretch_ : kUnstretched);
  issue_debt_ += machine_.copy_issue;
  grow(copy.bytes, compute_.active ? item().workspace : 0);
  bytes_in_ += copy.bytes;
  if constexpr (kRecord) {
    log(CommandKind::start_in, kNoOp, copy.gap);
    in_span_ = timeline_->spans.size();
    timeline_->spans.push_back({.lane = Lane::in, .gap = copy.gap, .start = now_ - iteration_start_});
  }
  return true;
}

void Simulator::Engine::settle_stretches() {
  const auto active = static_cast<std::size_t>((out_.active ? 1 : 0) + (in_.active ? 2 : 0));
  compute_.change(now_, machine_.compute_stretch[active]);
  const std::int64_t stretch = active == 3 ? copy_stretch_ : kUnstretched;
  out_.change(now_, stretch);
  in_.change(now_, stretch);
}

StallCause Simulator::Engine::waiting_for() const {
  const Item& next = item();
  if (now_ < iteration_start_ + next.issue) return StallCause::issue;
  if (outs_done_ < iteration_ * out_count() + next.outs_done) return StallCause::sync;
  if (ins_done_ < iteration_ * in_count() + next.ins_done) return StallCause::copy_in;
  return StallCause::room;
}

template <bool kRecord>
void Simulator::Engine::charge_wait(Nanoseconds until) {
  const StallCause cause = waiting_for();
  stalls_[static_cast<std::size_t>(cause)] += until - now_;
  if constexpr (kRecord) {
    const Nanoseconds start = now_ - iteration_start_;
    const Nanoseconds end = until - iteration_start_;
    if (!timeline_->stalls.empty()) {
      Stall& last = timeline_->stalls.back();
      if (last.cause == cause && last.op == item().position && last.end == start) {
        last.end = end;
        return;
      }
    }
    timeline_->stalls.push_back({cause, item().position, start, end});
  }
}

Simulator::Simulator(const Program& program, const Gaps& gaps, const Machine& machine)
    : engine_(std::make_unique<Engine>(program, gaps, machine)) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

StepResult Simulator::run(const LoweredPlan& plan, Bytes limit) {
  return engine_->run<false>(plan, limit, nullptr, nullptr, nullptr);
}

StepResult Simulator::run(const LoweredPlan& plan, Bytes limit, Timeline& timeline, Schedule& schedule) {
  return engine_->run<true>(plan, limit, nullptr, &timeline, &schedule);
}

StepResult Simulator::run(const LoweredPlan& plan, Bytes limit, const AddressGates& gates, Timeline& timeline,
                          Schedule& schedule) {
  return engine_->run<true>(plan, limit, &gates, &timeline, &schedule);
}

}  // namespace ebb
