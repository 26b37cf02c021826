// An op that is running, for the first time or again: what its function sees, and what a Device asks when the
// function calls the Device itself instead of its context.
#pragma once

#include "runtime/exec.h"

namespace ebb {

class OpFrame : public ExecContext {
 public:
  // An exec inside an exec is part of the outer op.
  virtual void nested(const OpInfo& info, std::span<const Handle> reads, std::span<const Handle> writes,
                      const ExecFunction& function) = 0;
};

// Which op is running, if any. One per Device.
struct FrameSlot {
  OpFrame* current = nullptr;
};

// Makes a frame the current one while it lives.
class FrameEntry {
 public:
  FrameEntry(FrameSlot& slot, OpFrame& frame) : slot_(slot), outer_(slot.current) { slot.current = &frame; }
  ~FrameEntry() { slot_.current = outer_; }
  FrameEntry(const FrameEntry&) = delete;
  FrameEntry& operator=(const FrameEntry&) = delete;

 private:
  FrameSlot& slot_;
  OpFrame* outer_;
};

// Thrown through an op's function when a malloc in it cannot be served and the op can be run once more. Not a
// std::exception: a function that handles errors of its own should not take it for one.
struct AbandonOp {};

}  // namespace ebb
