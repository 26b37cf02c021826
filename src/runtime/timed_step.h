// A step as it was measured: its op times are in the program, what its links and its host take in the
// machine.
#pragma once

#include "machine/machine.h"
#include "trace/program.h"

namespace ebb {

struct TimedStep {
  Program program;
  Machine machine;
};

}  // namespace ebb
