#include "simulate/event_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ebb {

void EventLoop::start(const CompiledPlan& plan, Bytes limit, Timeline* timeline, Schedule* schedule) {
  compiled_ = &plan;
  items_ = plan.items;
  outs_ = plan.outs;
  ins_ = plan.ins;
  limit_ = limit;
  timeline_ = timeline;
  schedule_ = schedule;
  now_ = iteration_start_ = 0;
  compute_ = out_ = in_ = Task{};
  IssuedWork issued{.copies = out_count() + in_count()};
  if (host_.takes_time())
    for (const Item& item : items_) {
      ++(item.replay ? issued.replays : issued.ops);
      issued.compute += item.duration;
    }
  host_.start(issued);
  item_ = item_base_ = iteration_ = 0;
  outs_started_ = outs_done_ = ins_started_ = ins_done_ = 0;
  next_out_ = next_in_ = 0;
  next_out_items_ = next_in_items_ = next_in_outs_ = next_in_iteration_ = 0;
  occupancy_ = plan.initial;
  out_span_ = in_span_ = kNoSpan;
}

template <bool kRecord>
void EventLoop::begin_iteration() {
  iteration_start_ = now_;
  costs_ = {.peak_demand = occupancy_, .peak_load = occupancy_ - program_.info().unmanaged};
  closing_ = false;
  if constexpr (kRecord) {
    *timeline_ = {};
    schedule_->commands.clear();
    out_span_ = in_span_ = kNoSpan;
  }
}

BoundaryState EventLoop::boundary_state() const {
  return {outs_started_ - iteration_ * out_count(),
          ins_started_ - iteration_ * in_count(),
          out_.active,
          in_.active,
          out_.left(now_),
          in_.left(now_),
          host_.behind(now_),
          occupancy_};
}

template <bool kRecord>
std::optional<Infeasible> EventLoop::run_iteration() {
  begin_iteration<kRecord>();
  for (;;) {
    for (bool changed = true; changed;) {
      changed = end_tasks<kRecord>();
      if (closing_) return std::nullopt;
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
      const Nanoseconds issue = issued_at();
      if (issue > now_) next = std::min(next, issue);
      if (next == kEndOfTime)
        return Infeasible{Obstacle::stuck,
                          item().position,
                          -1,
                          occupancy_ + item().need,
                          limit_,
                          fmt::format("{} of {} bytes are taken", occupancy_, limit_)};
      charge_wait<kRecord>(next);
    }
    now_ = next;
  }
}

void EventLoop::end_open_spans() {
  settle_stretches();
  if (out_.active && out_span_ != kNoSpan) timeline_->spans[out_span_].end = out_.end - iteration_start_;
  if (in_.active && in_span_ != kNoSpan) timeline_->spans[in_span_].end = in_.end - iteration_start_;
}

template <bool kRecord>
bool EventLoop::end_tasks() {
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
void EventLoop::end_item() {
  const Item& done = item();
  const auto index = static_cast<std::size_t>(item_);
  compute_.active = false;
  occupancy_ -= done.frees;
  ++item_;
  if (item_ == item_count()) {
    closing_ = true;
    item_ = 0;
    item_base_ += item_count();
    ++iteration_;
  }
  if constexpr (kRecord) {
    timeline_->spans[compute_span_].end = now_ - iteration_start_;
    for (auto k = compiled_->drop_first[index]; k < compiled_->drop_first[index + 1]; ++k)
      log(CommandKind::drop, kNoOp, compiled_->drop_list[static_cast<std::size_t>(k)]);
  }
  if (done.has_end_work) free_leaving_blocks<kRecord>(index);
}

template <bool kRecord>
void EventLoop::free_leaving_blocks(std::size_t index) {
  const std::int64_t base = (iteration_ - (closing_ ? 1 : 0)) * out_count();
  for (auto k = compiled_->release_first[index]; k < compiled_->release_first[index + 1]; ++k) {
    const std::int32_t copy = compiled_->release_list[static_cast<std::size_t>(k)];
    if (base + copy >= outs_done_) continue;
    occupancy_ -= outs_[static_cast<std::size_t>(copy)].bytes;
    if constexpr (kRecord) log(CommandKind::release, kNoOp, outs_[static_cast<std::size_t>(copy)].gap);
  }
  for (auto k = compiled_->death_first[index]; k < compiled_->death_first[index + 1]; ++k) {
    const std::int64_t copy = compiled_->death_list[static_cast<std::size_t>(k)];
    if (base + copy < outs_started_) continue;
    const std::int64_t listed = copy < 0 ? copy + out_count() : copy;
    occupancy_ -= outs_[static_cast<std::size_t>(listed)].bytes;
  }
}

template <bool kRecord>
void EventLoop::end_copy_out() {
  const std::int32_t index = next_out_ > 0 ? next_out_ - 1 : static_cast<std::int32_t>(out_count()) - 1;
  const std::int64_t base = next_out_ > 0 ? next_out_items_ : next_out_items_ - item_count();
  const OutCopy& copy = outs_[static_cast<std::size_t>(index)];
  out_.active = false;
  ++outs_done_;
  if constexpr (kRecord)
    if (out_span_ != kNoSpan) timeline_->spans[out_span_].end = now_ - iteration_start_;
  if (base + copy.release_after > ended()) return;  // its last reader has not ended
  occupancy_ -= copy.bytes;
  if constexpr (kRecord) log(CommandKind::release, kNoOp, copy.gap);
}

template <bool kRecord>
bool EventLoop::start_copy_out() {
  if (out_.active || outs_.empty()) return false;
  bool changed = false;
  for (;;) {
    const OutCopy& copy = outs_[static_cast<std::size_t>(next_out_)];
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
    host_.copy_started(now_);
    costs_.bytes_out += copy.bytes;
    if constexpr (kRecord) open_span(CommandKind::start_out, {.lane = Lane::out, .gap = copy.gap}, out_span_);
    return true;
  }
}

template <bool kRecord>
bool EventLoop::start_item() {
  if (compute_.active) return false;
  const Item& next = item();
  if (!fits_now() || ins_done_ < iteration_ * in_count() + next.ins_done ||
      outs_done_ < iteration_ * out_count() + next.outs_done || now_ < issued_at())
    return false;
  grow(next.need, next.workspace);
  host_.item_started(next.replay, now_);
  compute_.start(now_, next.duration, machine_.compute_stretch[active_copies()]);
  if constexpr (kRecord)
    open_span(next.replay ? CommandKind::replay : CommandKind::run,
              {.lane = Lane::compute, .replay = next.replay, .op = next.op}, compute_span_);
  return true;
}

template <bool kRecord>
bool EventLoop::start_copy_in() {
  if (in_.active || ins_.empty()) return false;
  if (machine_.exclusive && out_.active) return false;
  const InCopy& copy = ins_[static_cast<std::size_t>(next_in_)];
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
  host_.copy_started(now_);
  grow(copy.bytes, compute_.active ? item().workspace : 0);
  costs_.bytes_in += copy.bytes;
  if constexpr (kRecord) open_span(CommandKind::start_in, {.lane = Lane::in, .gap = copy.gap}, in_span_);
  return true;
}

void EventLoop::settle_stretches() {
  const std::size_t active = active_copies();
  compute_.change(now_, machine_.compute_stretch[active]);
  const std::int64_t stretch = active == 3 ? copy_stretch_ : kUnstretched;
  out_.change(now_, stretch);
  in_.change(now_, stretch);
}

StallCause EventLoop::waiting_for() const {
  const Item& next = item();
  if (now_ < issued_at()) return StallCause::issue;
  if (outs_done_ < iteration_ * out_count() + next.outs_done) return StallCause::sync;
  if (ins_done_ < iteration_ * in_count() + next.ins_done) return StallCause::copy_in;
  return StallCause::room;
}

template <bool kRecord>
void EventLoop::charge_wait(Nanoseconds until) {
  const StallCause cause = waiting_for();
  costs_.stalls[static_cast<std::size_t>(cause)] += until - now_;
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

template std::optional<Infeasible> EventLoop::run_iteration<false>();
template std::optional<Infeasible> EventLoop::run_iteration<true>();

}  // namespace ebb
