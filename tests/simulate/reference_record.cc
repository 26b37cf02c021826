#include "simulate/reference_record.h"

#include <algorithm>

namespace ebb {

void ReferenceRecord::begin_iteration(Nanoseconds now) {
  ++iteration_;
  start_ = now;
  result_.timeline = {};
  result_.schedule = {};
  result_.step.stalls = {};
  result_.step.recompute_time = 0;
  result_.step.bytes_out = result_.step.bytes_in = 0;
  result_.step.peak_load = result_.step.peak_demand = 0;
}

ReferenceRecord::SpanPlace ReferenceRecord::begin_span(Span span, Nanoseconds now) {
  span.start = now - start_;
  result_.timeline.spans.push_back(span);
  return {.iteration = iteration_, .index = result_.timeline.spans.size() - 1};
}

void ReferenceRecord::end_span(const SpanPlace& place, Nanoseconds end) {
  if (place.iteration == iteration_) result_.timeline.spans[place.index].end = end - start_;
}

void ReferenceRecord::note_wait(StallCause cause, OpIndex position, Nanoseconds now) {
  if (wait_ && wait_->cause == cause) return;
  end_wait(now);
  wait_ = Stall{.cause = cause, .op = position, .start = now - start_, .end = 0};
}

void ReferenceRecord::end_wait(Nanoseconds now) {
  if (!wait_) return;
  wait_->end = now - start_;
  auto& stalls = result_.timeline.stalls;
  const bool goes_on = !stalls.empty() && stalls.back().cause == wait_->cause &&
                       stalls.back().op == wait_->op && stalls.back().end == wait_->start;
  if (goes_on)
    stalls.back().end = wait_->end;
  else
    stalls.push_back(*wait_);
  result_.step.stalls[static_cast<std::size_t>(wait_->cause)] += wait_->end - wait_->start;
  wait_.reset();
}

void ReferenceRecord::note_load(Bytes occupancy, Nanoseconds now) {
  auto& load = result_.timeline.load;
  if (load.empty() || load.back().bytes != occupancy) load.push_back({now - start_, occupancy});
}

void ReferenceRecord::note_peak(Bytes resident, Bytes occupancy) {
  result_.step.peak_load = std::max(result_.step.peak_load, resident);
  result_.step.peak_demand = std::max(result_.step.peak_demand, occupancy);
}

void ReferenceRecord::command(CommandKind kind, OpIndex op, GapId gap, std::size_t ended) {
  result_.schedule.commands.push_back(
      {.kind = kind, .op = op, .gap = gap, .ended = static_cast<std::int32_t>(ended)});
}

}  // namespace ebb
