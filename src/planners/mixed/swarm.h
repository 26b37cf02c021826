// The particle swarm of [HOME] Alg. 1 and 3 over policies. See docs/notes/mixed-planners.md.
#pragma once

#include <functional>

#include "planners/mixed/particle.h"

namespace ebb {

struct SwarmOptions {
  std::int64_t particles = 0;
  std::int64_t iterations = 0;
  std::int64_t evaluations = 0;  // at most so many; 0 = no such limit
  bool scatter = true;           // a particle that no longer improves starts anew near the best
  std::uint64_t seed = 1;
  int threads = 1;
  double deadline_seconds = 0;
  std::function<void(const PlanningProgress&)> progress = nullptr;
};

struct SwarmResult {
  Policy best;
  Score score;
  std::int64_t evaluations = 0;
  std::int64_t simulated = 0;      // of these; the rest was known to the thread: depends on the threads
  double printed_evaluations = 0;  // what Alg. 1 and 3 ask for as printed: nothing skipped, nothing known
  std::vector<SearchRound> rounds;
};

// The same for the same options whatever the number of threads, unless the deadline cuts it.
SwarmResult search_swarm(const PlanningProblem& problem, const std::vector<FeatureMap>& maps,
                         const Choices& choices, const SwarmOptions& options);

}  // namespace ebb
