#include "runtime/iteration_log.h"

#include <algorithm>
#include <bit>

namespace ebb {

void IterationLog::boundary(Event at, const LogCounts& counts, Bytes peak_arena, bool planned) {
  if (began_) {
    IterationStatistics statistics{.number = next_number_++,
                                   .mode = planned ? Mode::planned : Mode::reactive,
                                   .bytes_out = counts.statistics.bytes_out - began_->statistics.bytes_out,
                                   .bytes_in = counts.statistics.bytes_in - began_->statistics.bytes_in,
                                   .replays = counts.statistics.replays - began_->statistics.replays,
                                   .evictions = counts.statistics.evictions - began_->statistics.evictions,
                                   .peak_arena = peak_arena,
                                   .deviations = counts.deviations - began_->deviations,
                                   .left_out = counts.left_out - began_->left_out};
    for (std::size_t i = 0; i < kStallCauses; ++i)
      statistics.stalls[i] = counts.stalls[i] - began_->stalls[i];
    planned_ += planned;
    pending_.push_back({.statistics = statistics, .begin = begin_, .end = at});
    const bool as_planned = planned && statistics.deviations == 0;
    pending_.back().usual = as_planned && !sampling_ && !watched_before_;
    if (sampling_ && as_planned) {
      pending_.back().samples.swap(samples_);
      pending_.back().watched = watching_;
    }
    if (pending_.size() > kMostIterations) pending_.pop_front();
  }
  began_ = counts;
  begin_ = at;
  samples_.clear();
  watched_before_ = watching_;
  // The times of all ops and copies, of the 1st, 2nd, 4th, 8th … planned iteration and of a plan's 2nd.
  sampling_ = std::has_single_bit(static_cast<std::uint64_t>(planned_ + 1)) ||
              (planned_before_ > 0 && planned_ == planned_before_ + 1);
  watching_ = false;
  update();
}

void IterationLog::op(OpIndex op, const OpSpan& span) {
  if (sampling_ && samples_.size() < kMostSpans)
    samples_.push_back({.lane = Lane::compute, .op = op, .span = span});
}

void IterationLog::copy(Engine engine, GapId gap, Event start, Event end) {
  if (sampling_ && samples_.size() < kMostSpans)
    samples_.push_back(
        {.lane = engine == Engine::out ? Lane::out : Lane::in, .gap = gap, .span = {start, end}});
}

void IterationLog::plan_begins() {
  watched_.clear();
  watched_host_.clear();
  measured_.reset();
  shortest_step_ = measured_step_ = 0;
  untouched_ = 0;
  planned_before_ = planned_;
  watched_before_ = true;  // or as if: everything goes to its place first
  watching_ = false;
  for (Pending& pending : pending_) {
    pending.samples.clear();
    pending.watched = pending.usual = false;
  }
}

void IterationLog::update() {
  // A copy of the last iteration may still run; then it is asked about again.
  while (!pending_.empty() && backend_.happened(pending_.front().end)) {
    Pending& pending = pending_.front();
    const auto happened = [&](const Sample& sample) { return backend_.happened(sample.span.end); };
    if (!std::all_of(pending.samples.begin(), pending.samples.end(), happened)) return;
    resolve(pending);
    pending_.pop_front();
  }
}

void IterationLog::keep_times(const Pending& pending) {
  std::vector<Nanoseconds> device, host;
  for (const Sample& sample : pending.samples) {
    if (sample.lane != Lane::compute) continue;
    const auto op = static_cast<std::size_t>(sample.op);
    if (device.size() <= op)
      device.resize(op + 1, OpTimes::kNotTimed), host.resize(op + 1, OpTimes::kNotTimed);
    device[op] = sample.span.op_time(backend_);
    host[op] = sample.span.host;
  }
  watched_.add(std::move(device));
  watched_host_.add(std::move(host));
}

void IterationLog::show(const Pending& pending) {
  Timeline timeline;
  for (const Sample& sample : pending.samples)
    timeline.spans.push_back({.lane = sample.lane,
                              .op = sample.op,
                              .gap = sample.gap,
                              .start = backend_.elapsed(pending.begin, sample.span.start),
                              .end = backend_.elapsed(pending.begin, sample.span.end)});
  std::stable_sort(timeline.spans.begin(), timeline.spans.end(),
                   [](const Span& a, const Span& b) { return a.start < b.start; });
  measured_ = std::move(timeline);
  measured_step_ = pending.statistics.step_time;
}

void IterationLog::resolve(Pending& pending) {
  try {
    const Nanoseconds step = backend_.elapsed(pending.begin, pending.end);
    pending.statistics.step_time = step;
    if (pending.usual) {
      shortest_step_ = untouched_ == 0 ? step : std::min(shortest_step_, step);
      ++untouched_;
    }
    if (pending.watched)
      keep_times(pending);
    else if (!pending.samples.empty())
      show(pending);
  } catch (const BackendError&) {
    // Its events lie too far back: it stays unmeasured.
  }
  iterations_.push_back(pending.statistics);
  if (iterations_.size() > kMostIterations) iterations_.pop_front();
}

}  // namespace ebb
