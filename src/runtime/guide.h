// Who knows the iteration that a program repeats, asked by those who run its ops. Whatever it says is advice:
// without it, or against it, they stay right.
#pragma once

#include "runtime/op_span.h"
#include "runtime/pager.h"

namespace ebb {

struct Operand;

// An op as it is about to be called.
struct OpSeen {
  std::string_view name;
  std::span<const Operand> operands;  // a block once
};

class Guide {
 public:
  virtual ~Guide() = default;
  // An op begins: whatever should happen before it does. true: a plan knows where its mallocs go.
  virtual bool op_begins(const OpSeen& op) = 0;
  // Might it be run again? If not, nobody has to write down how; whether it could be was seen before.
  // REQUIRES: op_begins said that a plan knows it.
  virtual bool needs_recipe() const = 0;
  virtual bool was_replayable() const = 0;
  // Its operands are pinned: empties the places of its mallocs. false: not all can be had.
  [[nodiscard]] virtual bool make_room() = 0;
  // Its function is about to run.
  virtual void function_begins() = 0;
  // It was abandoned and runs once more.
  virtual void op_restarts() = 0;
  // It has run; `step` may be kNoStep.
  virtual void op_ended(StepId step, const OpSpan& span) = 0;
  // Where the next malloc goes, inside an op or on its own, and what came of it.
  virtual PlannedPlace place_of_malloc(Bytes bytes) = 0;
  virtual void malloced(PagedBlock& block) = 0;
  // A replayed op's operands are pinned: the same for its mallocs. false: it is not in a plan, or not all can
  // be had.
  [[nodiscard]] virtual bool make_room_for(const Step& replayed) = 0;
  // Where a replayed op's nth malloc goes.
  virtual PlannedPlace place_of_replayed(const Step& step, std::size_t nth) = 0;
  // The program frees the block. Does a plan hold it for a replay, until it calls Lifetimes::let_go?
  virtual bool keeps_freed(PagedBlock& block) = 0;
  // A replay made a dropped block on its way to another, in this step. Does it stay?
  virtual bool keeps_replayed(const Step& step, const PagedBlock& block) = 0;
};

// The guide, if there is one. One per Device.
struct GuideSlot {
  Guide* current = nullptr;
  // Must ops be timed, and if so, exactly, whatever that costs the iteration (op_clock.h), or as they come?
  // The guide keeps both, since they are asked all the time.
  bool wants_times = true;
  bool wants_exact_times = true;

  PlannedPlace place_of_malloc(Bytes bytes) const {
    return current ? current->place_of_malloc(bytes) : PlannedPlace{};
  }
  void malloced(PagedBlock& block) const {
    if (current) current->malloced(block);
  }
  bool make_room_for(const Step& replayed) const { return current && current->make_room_for(replayed); }
  PlannedPlace place_of_replayed(const Step& step, std::size_t nth) const {
    return current ? current->place_of_replayed(step, nth) : PlannedPlace{};
  }
  bool keeps_freed(PagedBlock& block) const { return current && current->keeps_freed(block); }
  bool keeps_replayed(const Step& step, const PagedBlock& block) const {
    return !current || current->keeps_replayed(step, block);
  }
};

}  // namespace ebb
