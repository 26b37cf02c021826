// What the reference tells of one iteration: spans, stalls, load, commands, peaks and sums. All of it is
// forgotten when the next iteration begins.
#pragma once

#include <optional>

#include "simulate/reference_simulator.h"

namespace ebb {

class ReferenceRecord {
 public:
  // Writes to `result`, but not to what is about more than one iteration.
  explicit ReferenceRecord(ReferenceResult& result) : result_(result) {}

  void begin_iteration(Nanoseconds now);
  int iteration() const { return iteration_; }
  Nanoseconds iteration_start() const { return start_; }

  // A span of the iteration in which it began.
  struct SpanPlace {
    int iteration = 0;
    std::size_t index = 0;
  };
  SpanPlace begin_span(Span span, Nanoseconds now);
  void end_span(const SpanPlace& place, Nanoseconds end);  // nothing, if its iteration is forgotten
  // Compute waits at a position; touching waits of one cause are one stall.
  void note_wait(StallCause cause, OpIndex position, Nanoseconds now);
  void end_wait(Nanoseconds now);
  void note_load(Bytes occupancy, Nanoseconds now);
  void note_peak(Bytes resident, Bytes occupancy);
  void command(CommandKind kind, OpIndex op, GapId gap, std::size_t ended);
  void disagree(std::string what) { result_.disagreements.push_back(std::move(what)); }
  StepResult& step() { return result_.step; }

 private:
  ReferenceResult& result_;
  int iteration_ = -1;
  Nanoseconds start_ = 0;
  std::optional<Stall> wait_;
};

}  // namespace ebb
