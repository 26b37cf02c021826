// What holds memory in the reference: every life of a block and every temporary of a replay is an entity with
// a state of its own; occupancy is their sum, counted afresh each time. Knows nothing of time.
#pragma once

#include <map>
#include <utility>

#include "plan/lowered.h"
#include "simulate/reference_positions.h"

namespace ebb {

class ReferenceMemory {
 public:
  enum class State { resident, leaving, on_host, returning, dropped, dead };

  // One life of a block. `died`: its death has ended, whatever still holds its memory.
  struct Body {
    State state = State::resident;
    bool died = false;
    bool holds_memory() const {
      return state == State::resident || state == State::leaving || state == State::returning;
    }
  };

  // As it is at time 0.
  ReferenceMemory(const Program& program, const Gaps& gaps, const ReferencePositions& positions);

  // The life that the gap of that iteration belongs to.
  Body& body(GapId gap, int iteration) { return bodies_[body_key(gap, iteration)]; }
  Bytes resident_bytes() const;
  Bytes occupancy() const { return program_.info().unmanaged + resident_bytes() + workspace_; }
  // What an op, or a step of a replay (null: the op itself), takes when it starts.
  Bytes wanted(OpIndex op, const ReferenceStep* step) const;

  void begin_op(OpIndex op, int iteration);
  void begin_step(const ReferenceStep& step);
  void end_workspace() { workspace_ = 0; }
  void end_step(const ReferenceStep& step, int iteration);
  void end_lives(OpIndex op, int iteration);
  // Can the op of that iteration, which has begun, use the block?
  bool has_operand(BlockId block, OpIndex op, int iteration);

 private:
  std::pair<BlockId, int> body_key(GapId gap, int iteration) const;

  const Program& program_;
  const Gaps& gaps_;
  const ReferencePositions& positions_;
  std::map<std::pair<BlockId, int>, Body> bodies_;  // by block and the iteration of its birth
  std::map<VersionId, Bytes> temporaries_;
  Bytes workspace_ = 0;
};

}  // namespace ebb
