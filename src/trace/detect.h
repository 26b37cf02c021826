// Finds the repeating unit in a stream of events ([SP] §V), block ids and addresses differing between
// repeats.
//
//   w x y z A B C D A B C D A B C D A B C        found: begin 4, period 4 (A B C D), 3 repeats, end 19
//   w x y z A B C D A B C D A B X A B C D A      found: X was a deviation, a whole period followed it
//   w x y z A B C D A B                          not yet
//
// Runs with a period are found on signatures (event_signature.h, periodic_run.h) and must then repeat
// exactly, block for block (block_repeat.h). The run that explains most of the stream's tail wins, so an
// iteration is preferred to a time step or micro-batch inside it; of equally long ones the smallest period,
// so never a multiple. What comes after a deviation may be a piece of the iteration known before it: then
// that one stays. docs/notes/iteration-detection.md.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/block_history.h"
#include "trace/trace.h"

namespace ebb {

struct DetectOptions {
  std::size_t repeats = 2;  // full periods that must have been seen; at least 2
  // A tail run must cover this share of the events since the last other iteration (or the start), or it is
  // taken for an inner loop of an iteration that has not repeated yet.
  double least_share = 0.125;
  // "Not periodic": this many events have passed since the last run (or the start) and nothing repeats.
  std::size_t patience = 250'000;
};

enum class DetectStatus { found, not_yet, not_periodic };

// The events [begin, end) repeat with `period`; the last repeat may be partial.
struct Detection {
  DetectStatus status = DetectStatus::not_yet;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t period = 0;
  std::size_t repeats() const { return period == 0 ? 0 : (end - begin) / period; }
  bool operator==(const Detection&) const = default;
};

// REQUIRES: `blocks` is block_histories of the trace. O(n log n) for n events.
Detection detect_iteration(const Trace& trace, const std::vector<BlockHistory>& blocks,
                           const DetectOptions& options);
Detection detect_iteration(const Trace& trace, const DetectOptions& options = {});

}  // namespace ebb
