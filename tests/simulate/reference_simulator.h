// A slow, obviously right simulator, written from docs/notes/simulation.md alone. Every block instance and
// every replay temporary is an entity with a state of its own; occupancy is their sum, counted afresh each
// time.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"
#include "plan/lowered.h"
#include "plan/schedule.h"
#include "simulate/simulator.h"
#include "simulate/timeline.h"

namespace ebb {

struct ReferenceResult {
  StepResult step;
  Timeline timeline;
  Schedule schedule;
  // What the lowered plan says differently from what the reference derives, and operands that were not there.
  std::vector<std::string> disagreements;
};

ReferenceResult reference_simulate(const Program& program, const Gaps& gaps, const Machine& machine,
                                   const LoweredPlan& lowered, Bytes limit);

}  // namespace ebb
