// A random program with a plan that `lower` accepts, if one is found near the random one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/lowered.h"
#include "plan/schedule.h"
#include "random_programs.h"

namespace ebb {

struct RandomCase {
  Program program;
  Gaps gaps;
  Machine machine;
  Plan plan;
  Bytes limit = 0;
  std::optional<LoweredPlan> lowered;  // empty: `obstacle` says why not
  Obstacle obstacle = Obstacle::none;  // the last one met
};

// Where `lower` refuses the random plan, the offending block is kept or the limit raised to what is needed, a
// few times; then the case is given up.
RandomCase random_case(std::uint64_t seed);

// The whole case as text, for a failing test.
std::string describe(const RandomCase& c);
std::string describe(const std::vector<Command>& commands);

}  // namespace ebb
