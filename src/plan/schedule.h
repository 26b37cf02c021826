// The Schedule: the total order in which a host issues one steady iteration. See docs/notes/simulation.md.
#pragma once

#include <vector>

#include "trace/quantities.h"

namespace ebb {

enum class CommandKind : char {
  run,        // op: the program's own op
  replay,     // op: run again for a replay (gap = -1)
  start_out,  // gap: begin the copy to the host
  release,    // gap: the copy-out has ended and the last reader too; its memory may be handed on
  start_in,   // gap: take memory and begin the copy back
  drop,       // gap: the block leaves at once (recomputed, clean, or the end of a stay)
};

// `ended`: how many of this iteration's items (runs and replays, in order) have ended before the command may
// take effect; at most the number listed before it, and at most one fewer for start_in (the item that may
// still run).
struct Command {
  CommandKind kind = CommandKind::run;
  OpIndex op = kNoOp;
  GapId gap = -1;
  std::int32_t ended = 0;
  bool operator==(const Command&) const = default;
};

struct Schedule {
  std::vector<Command> commands;
  bool operator==(const Schedule&) const = default;
};

}  // namespace ebb
