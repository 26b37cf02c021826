// What each iteration cost, and when everything in one of them happened. Events are resolved when they have
// happened, so nobody waits to know.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "runtime/op_span.h"
#include "runtime/op_times.h"
#include "runtime/stall_meter.h"
#include "runtime/statistics.h"
#include "runtime/status.h"

namespace ebb {

// What counts on, at the begin of an iteration.
struct LogCounts {
  DeviceStatistics statistics = {};
  StallTimes stalls = {};
  std::int64_t deviations = 0;
  std::int64_t left_out = 0;
};

class IterationLog {
 public:
  explicit IterationLog(Backend& backend) : backend_(backend) {}

  // An iteration ends (if one began) and another begins at the event of compute.
  void boundary(Event at, const LogCounts& counts, Bytes peak_arena, bool planned);
  // The place in the iteration is lost: what began is not counted.
  void lose() { began_.reset(); }
  void op(OpIndex op, const OpSpan& span);
  // `gap` is -1 for a copy that no plan asked for.
  void copy(Engine engine, GapId gap, Event start, Event end);
  // The iteration that has just begun is timed, and its ops' times are kept.
  void watch_ops() { sampling_ = watching_ = true; }
  // Another plan is followed from the iteration on that has just begun: what is known of planned ones so far
  // is of no interest any more. Its second iteration is timed in any case.
  void plan_begins();
  // Resolves what has happened.
  void update();

  const std::deque<IterationStatistics>& iterations() const { return iterations_; }
  // The last planned iteration all of whose times are known.
  const std::optional<Timeline>& measured() const { return measured_; }
  Nanoseconds measured_step() const { return measured_step_; }
  // Of the planned iterations that were watched, in which nothing deviated.
  const OpTimes& watched_ops() const { return watched_; }
  const OpTimes& watched_host() const { return watched_host_; }
  // Of those planned iterations that timing did not touch; 0: there was none.
  Nanoseconds shortest_step() const { return shortest_step_; }
  std::int64_t untouched() const { return untouched_; }  // how many they were
  Nanoseconds last_step() const { return iterations_.empty() ? 0 : iterations_.back().step_time; }
  std::int64_t count() const { return next_number_; }
  std::int64_t planned() const { return planned_; }
  // Times of ops are wanted in the iteration that runs, for plans or only to be shown.
  bool sampling() const { return sampling_; }
  bool watching() const { return watching_; }

 private:
  static constexpr std::size_t kMostIterations = 1024;
  static constexpr std::size_t kMostSpans = 16'384;  // so that their events can still be asked about
  struct Sample {
    Lane lane = Lane::compute;
    OpIndex op = kNoOp;
    GapId gap = -1;
    OpSpan span = {};
  };
  struct Pending {
    IterationStatistics statistics;
    Event begin = kHappened;
    Event end = kHappened;
    std::vector<Sample> samples = {};
    bool watched = false;
    bool usual = false;  // planned, its ops were not timed, and those before it not with compute held
  };
  void resolve(Pending& pending);
  void keep_times(const Pending& pending);
  void show(const Pending& pending);

  Backend& backend_;
  std::optional<LogCounts> began_;
  Event begin_ = kHappened;
  bool sampling_ = false;
  bool watched_before_ = false;  // the iteration before
  bool watching_ = false;
  std::vector<Sample> samples_;
  std::deque<Pending> pending_;
  std::deque<IterationStatistics> iterations_;
  std::optional<Timeline> measured_;
  Nanoseconds measured_step_ = 0;
  OpTimes watched_;
  OpTimes watched_host_;
  Nanoseconds shortest_step_ = 0;
  std::int64_t untouched_ = 0;
  std::int64_t next_number_ = 0;
  std::int64_t planned_ = 0;
  std::int64_t planned_before_ = 0;  // when the plan began
};

}  // namespace ebb
