// Walking a program op by op with nothing moved: which blocks exist and which content they have.
#pragma once

#include "plan/replay_builder.h"

namespace ebb {

// Before op 0: persistent and wrapping blocks are there, with what the previous iteration left in them.
Presence presence_at_start(const Program& program);

// Op i's births are resident and its outputs current: what holds when it has run, before anything is freed.
void run_op(const Program& program, OpIndex i, Presence& presence);

// run_op, then op i's deaths.
void advance(const Program& program, OpIndex i, Presence& presence);

}  // namespace ebb
