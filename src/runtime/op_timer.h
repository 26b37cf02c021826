// How long ops took, learned when their events have happened, and told to the trace and the recipes.
#pragma once

#include <deque>
#include <optional>

#include "runtime/host_pace.h"
#include "runtime/op_span.h"
#include "runtime/recipe.h"
#include "runtime/recorder.h"

namespace ebb {

class OpTimer {
 public:
  // REQUIRES: all outlive the timer.
  OpTimer(Backend& backend, RecipeBook& recipes, Recorder& recorder)
      : backend_(backend), recipes_(recipes), recorder_(recorder) {}

  // REQUIRES: the events enclose the op on compute. `step` may be kNoStep.
  void add(const OpSpan& span, StepId step, std::int64_t record) {
    if (pending_.size() < kMostPending) pending_.push_back({span, step, record});
  }

  // The first op whose time is not known yet, by its number in the record; nothing if all are.
  std::optional<std::int64_t> first_unknown() const {
    for (const Pending& op : pending_)
      if (op.record != Recorder::kUnrecorded) return op.record;
    return std::nullopt;
  }

  // Of the ops that were timed, where the host is kept ahead meanwhile.
  HostPace& host_pace() { return host_pace_; }
  Nanoseconds now() const { return recorder_.now(); }

  void update() {
    while (!pending_.empty() && backend_.happened(pending_.front().span.end)) {
      const Pending op = pending_.front();
      pending_.pop_front();
      try {
        const Nanoseconds time = op.span.op_time(backend_);
        if (op.step != kNoStep) recipes_.set_duration(op.step, time);
        recorder_.set_duration(op.record, time);
      } catch (const BackendError&) {
        // Its events lie too far back: it stays unmeasured.
      }
    }
  }

 private:
  struct Pending {
    OpSpan span;
    StepId step = kNoStep;
    std::int64_t record = 0;
  };
  static constexpr std::size_t kMostPending = 16'384;
  Backend& backend_;
  RecipeBook& recipes_;
  Recorder& recorder_;
  std::deque<Pending> pending_;
  HostPace host_pace_;
};

}  // namespace ebb
