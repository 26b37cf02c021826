// The event loop of docs/notes/simulation.md: runs one iteration of a compiled plan after the other, each
// from where the one before stopped. How many there have to be is not known here: see simulator.cc.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>

#include "machine/machine.h"
#include "plan/schedule.h"
#include "simulate/compiled_plan.h"
#include "simulate/host_lane.h"
#include "simulate/stretch.h"
#include "simulate/timeline.h"

namespace ebb {

// What has to repeat for the iteration to be steady. Queue counts are relative to the iteration.
struct BoundaryState {
  std::int64_t outs_started = 0;
  std::int64_t ins_started = 0;
  bool out_active = false;
  bool in_active = false;
  Nanoseconds out_left = 0;
  Nanoseconds in_left = 0;
  Nanoseconds host_behind = 0;
  Bytes occupancy = 0;
  bool operator==(const BoundaryState&) const = default;

  bool same_order(const BoundaryState& other) const {
    return outs_started == other.outs_started && ins_started == other.ins_started &&
           out_active == other.out_active && in_active == other.in_active;
  }
};

// What one iteration cost besides its time.
struct IterationCosts {
  std::array<Nanoseconds, kStallCauses> stalls{};
  Bytes bytes_out = 0, bytes_in = 0;
  Bytes peak_demand = 0, peak_load = 0;
};

// All counts are over all iterations; `*_base_` is what one iteration listed before the current one.
class EventLoop {
 public:
  // REQUIRES: both outlive the loop.
  EventLoop(const Program& program, const Machine& machine)
      : program_(program), machine_(machine), copy_stretch_(machine.copy_stretch()), host_(machine) {}

  // At time 0 of `plan`, which has to stay as it is while iterations run. `timeline` and `schedule` are for
  // run_iteration<true>.
  void start(const CompiledPlan& plan, Bytes limit, Timeline* timeline, Schedule* schedule);
  // Until everything that ends with the iteration's last item has ended; what starts then belongs to the
  // next. Returns why not, if items are left that can never start. With kRecord, timeline and schedule are
  // those of this iteration.
  template <bool kRecord>
  std::optional<Infeasible> run_iteration();
  // Copies that run on into the next iteration end as if nothing else started. For the end: no iteration may
  // follow.
  void end_open_spans();

  Nanoseconds now() const { return now_; }
  BoundaryState boundary_state() const;
  const IterationCosts& costs() const { return costs_; }

 private:
  template <bool kRecord>
  void begin_iteration();
  template <bool kRecord>
  bool end_tasks();
  template <bool kRecord>
  void end_item();
  template <bool kRecord>
  void free_leaving_blocks(std::size_t index);
  template <bool kRecord>
  void end_copy_out();
  template <bool kRecord>
  bool start_copy_out();
  template <bool kRecord>
  bool start_item();
  template <bool kRecord>
  bool start_copy_in();
  void settle_stretches();
  StallCause waiting_for() const;
  template <bool kRecord>
  void charge_wait(Nanoseconds until);

  const Item& item() const { return items_[static_cast<std::size_t>(item_)]; }
  std::int64_t item_count() const { return static_cast<std::int64_t>(items_.size()); }
  std::int64_t out_count() const { return static_cast<std::int64_t>(outs_.size()); }
  std::int64_t in_count() const { return static_cast<std::int64_t>(ins_.size()); }
  std::int64_t ended() const { return item_base_ + item_; }
  // The next item is issued then, by the program and by its host.
  Nanoseconds issued_at() const {
    return std::max(iteration_start_ + item().issue, host_.issues_at(item().replay));
  }
  bool fits_now() const {
    return occupancy_ + item().need <= limit_ && outs_done_ >= iteration_ * out_count() + item().room_outs;
  }
  void grow(Bytes bytes, Bytes workspace) {
    occupancy_ += bytes;
    costs_.peak_demand = std::max(costs_.peak_demand, occupancy_);
    costs_.peak_load = std::max(costs_.peak_load, occupancy_ - program_.info().unmanaged - workspace);
  }
  std::size_t active_copies() const {
    return static_cast<std::size_t>((out_.active ? 1 : 0) + (in_.active ? 2 : 0));
  }
  // Something starts: its command, and its span, whose place in the timeline is kept until it ends.
  void open_span(CommandKind kind, Span span, std::size_t& place) {
    log(kind, span.op, span.gap);
    span.start = now_ - iteration_start_;
    place = timeline_->spans.size();
    timeline_->spans.push_back(span);
  }
  void log(CommandKind kind, OpIndex op, GapId gap) {
    // What ends in step (a) at the end of an iteration still belongs to it.
    const std::int64_t count = closing_ ? item_count() : item_;
    schedule_->commands.push_back({kind, op, gap, static_cast<std::int32_t>(count)});
  }

  const Program& program_;
  const Machine& machine_;
  const std::int64_t copy_stretch_;
  const CompiledPlan* compiled_ = nullptr;
  // The lists of the plan, one step nearer.
  std::span<const Item> items_;
  std::span<const OutCopy> outs_;
  std::span<const InCopy> ins_;
  Bytes limit_ = 0;
  Timeline* timeline_ = nullptr;
  Schedule* schedule_ = nullptr;

  Nanoseconds now_ = 0;
  Nanoseconds iteration_start_ = 0;
  Task compute_, out_, in_;
  HostLane host_;
  std::int64_t item_ = 0;  // the running item, or the next one to run, in this iteration
  std::int64_t item_base_ = 0;
  std::int64_t iteration_ = 0;
  // Queues: started counts include skipped and running copies; index and iteration of the next one to start.
  std::int64_t outs_started_ = 0, outs_done_ = 0, ins_started_ = 0, ins_done_ = 0;
  std::int32_t next_out_ = 0, next_in_ = 0;
  std::int64_t next_out_items_ = 0, next_in_items_ = 0, next_in_outs_ = 0;  // bases of their iterations
  std::int64_t next_in_iteration_ = 0;
  Bytes occupancy_ = 0;
  IterationCosts costs_;
  bool closing_ = false;  // the iteration's last item has ended
  std::size_t compute_span_ = 0;
  std::size_t out_span_ = 0,
              in_span_ = 0;  // where the running copies are in the timeline; kNoSpan: not in this one
  static constexpr std::size_t kNoSpan = std::numeric_limits<std::size_t>::max();
};

}  // namespace ebb
