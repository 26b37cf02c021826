#include "trace/detect.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>

#include "trace/block_repeat.h"
#include "trace/event_signature.h"
#include "trace/periodic_run.h"

namespace ebb {
namespace {

constexpr std::size_t kBudgetPerEvent = 32;  // event pairs compared exactly
constexpr std::size_t kMostRuns = 256;       // looked at for one end; the longest come first

constexpr std::size_t kTinyDeviation = 20;  // of an iteration: one part in this many

struct Range {
  std::size_t begin;
  std::size_t end;
};

class Detector {
 public:
  Detector(const Trace& trace, const std::vector<BlockHistory>& blocks, const DetectOptions& options)
      : options_(options),
        repeats_(std::max<std::size_t>(options.repeats, 2)),
        signatures_(event_signatures(trace, blocks)),
        size_(signatures_.size()),
        repeat_(trace, blocks, kBudgetPerEvent * size_) {}

  Detection detect() {
    if (size_ == 0) return {};
    const std::optional<PeriodicRun> tail = best_run({0, size_}, size_);
    // Nothing can be longer than a run over half of the stream.
    if (tail && 2 * tail->length() >= size_) return found(without_small_deviations(*tail));
    const std::vector<PeriodicRun> earlier = earlier_runs();
    for (const PeriodicRun& run : earlier)
      if (tail && run.length() > tail->length() && contains(run, *tail) && still_holds(run, true))
        return found(run);
    const std::size_t since = earlier.empty() ? 0 : std::min(earlier.front().end, tail ? tail->begin : size_);
    if (tail && significant(*tail) && covers_share(*tail, since))
      return found(without_small_deviations(*tail));
    for (const PeriodicRun& run : earlier)
      if (still_holds(run, false)) return found(run);
    return {.status =
                size_ - since >= options_.patience ? DetectStatus::not_periodic : DetectStatus::not_yet};
  }

 private:
  static Detection found(const PeriodicRun& run) {
    return {.status = DetectStatus::found, .begin = run.begin, .end = run.end, .period = run.period};
  }

  std::span<const std::uint64_t> part(std::size_t begin, std::size_t end) const {
    return std::span<const std::uint64_t>(signatures_).subspan(begin, end - begin);
  }
  std::span<const std::uint64_t> cycle(const PeriodicRun& run) const {
    return part(run.end - run.period, run.end);
  }

  bool contains(const PeriodicRun& iteration, const PeriodicRun& tail) const {
    return occurs_in_cycle(part(tail.begin, tail.end), cycle(iteration));
  }

  // Chance alone makes runs that match in about log2(n) places.
  bool significant(const PeriodicRun& run) const {
    return 4 * run.length() >= size_ ||
           run.length() - run.period >= 2 * static_cast<std::size_t>(std::bit_width(size_));
  }

  bool covers_share(const PeriodicRun& tail, std::size_t since) const {
    return static_cast<double>(tail.length()) >= options_.least_share * static_cast<double>(size_ - since);
  }

  // Is a run that ended earlier still the iteration? Its cycle must make up half of what came since it began,
  // and it must have ended less than a period ago, or the stream must end in a piece of it: one period, or
  // what the tail repeats.
  bool still_holds(const PeriodicRun& run, bool tail_is_piece) const {
    const CycleCover after = cover_by_cycle(part(run.end, size_), cycle(run));
    const bool is_current = size_ - run.end <= run.period || after.reaches_end || tail_is_piece;
    return is_current && 2 * (run.length() + after.covered) + 2 * run.period >= size_ - run.begin;
  }

  static bool better(const PeriodicRun& a, const std::optional<PeriodicRun>& b) {
    if (!b) return true;
    const bool multiple = a.period % b->period == 0;
    return a.length() > b->length() + (multiple ? a.period : 0);
  }

  // The longest exact run among those with a part in `range` that reaches its end; continued beyond it.
  std::optional<PeriodicRun> best_run(Range range, std::size_t most_period) {
    std::optional<PeriodicRun> best;
    for (PeriodicRun run : runs_at_end(part(range.begin, range.end), repeats_, kMostRuns)) {
      run.begin += range.begin;
      run.end += range.begin;
      if (run.period > most_period) continue;
      if (best && !better(run, PeriodicRun{best->begin, range.end, best->period})) continue;
      if (!exact_part(run)) continue;  // before it is continued, because most are refused at once
      const std::optional<PeriodicRun> exact = exact_part(extend_right(signatures_, run));
      if (exact && better(*exact, best)) best = exact;
    }
    return best;
  }

  // Looks back from ends that lie ever farther apart: a run that ended d events before the end of the stream
  // is found if it is a quarter of d longer than it must be. Longest first.
  std::vector<PeriodicRun> earlier_runs() {
    std::vector<PeriodicRun> runs;
    for (std::size_t back = 1, longest = 0; back < size_ && longest < size_ - back;
         back += std::max<std::size_t>(1, back / 4)) {
      const std::optional<PeriodicRun> run = best_run({0, size_ - back}, size_);
      if (!run || run->end == size_ || !significant(*run)) continue;
      if (std::find(runs.begin(), runs.end(), *run) == runs.end()) runs.push_back(*run);
      longest = std::max(longest, run->length());
    }
    std::sort(runs.begin(), runs.end(), [](const PeriodicRun& a, const PeriodicRun& b) {
      return a.length() != b.length() ? a.length() > b.length() : a.begin > b.begin;
    });
    return runs;
  }

  // A A A A x A A A A x A A …: if x is tiny beside A (a log line every few iterations, not an update after
  // accumulated micro-batches), A is the iteration.
  PeriodicRun without_small_deviations(const PeriodicRun& run) {
    for (std::size_t third = 0; third < 3; ++third) {
      const Range range{run.end - 2 * run.period, run.end - third * run.period / 3};
      const std::optional<PeriodicRun> inner = best_run(range, run.period / 2);
      if (inner && 2 * inner->period <= run.period &&
          deviation(run, *inner) <= inner->period / kTinyDeviation)
        return *inner;
    }
    return run;
  }

  // The events of one turn of the outer cycle that are no turns of the inner one: what a third turn adds.
  std::size_t deviation(const PeriodicRun& outer, const PeriodicRun& inner) const {
    std::vector<std::uint64_t> turns;
    std::size_t uncovered[3];
    for (std::size_t& count : uncovered) {
      turns.insert(turns.end(), cycle(outer).begin(), cycle(outer).end());
      count = turns.size() - cover_by_cycle(turns, cycle(inner)).covered;
    }
    return uncovered[2] - uncovered[1];
  }

  std::optional<PeriodicRun> exact_part(const PeriodicRun& run) {
    const auto [known, is_new] = known_.try_emplace({run.begin, run.end, run.period});
    if (is_new) known->second = repeat_.exact_part(run, repeats_);
    return known->second;
  }

  const DetectOptions& options_;
  std::size_t repeats_;
  std::vector<std::uint64_t> signatures_;
  std::size_t size_;
  BlockRepeat repeat_;
  std::map<std::array<std::size_t, 3>, std::optional<PeriodicRun>>
      known_;  // neighbouring ends see the same runs
};

}  // namespace

Detection detect_iteration(const Trace& trace, const std::vector<BlockHistory>& blocks,
                           const DetectOptions& options) {
  return Detector(trace, blocks, options).detect();
}

Detection detect_iteration(const Trace& trace, const DetectOptions& options) {
  return detect_iteration(trace, block_histories(trace, trace.name), options);
}

}  // namespace ebb
