// What Capuchin may evict: idle times over ops that exceed the limit, with what swapping leaves free of the
// gap and what recomputing costs given what else is recomputed.
#pragma once

#include <vector>

#include "planners/planner.h"

namespace ebb {

struct CapuchinCandidate {
  GapId gap = 0;
  Bytes bytes = 0;
  Nanoseconds free_time = 0;  // the gap's length less both copies, in a plain step
  bool swappable = true;
  bool remakable = false;
  Nanoseconds remaking = 0;               // of its content, recomputed sources included
  Nanoseconds burden = 0;                 // on others: how often more its own remaking would run for them
  std::vector<std::size_t> sources = {};  // candidates its remaking reads where they are idle
  Action action = Action::keep;

  // Bytes saved per second of recomputing.
  double saving_rate() const {
    return static_cast<double>(bytes) / (static_cast<double>(remaking + burden) + 1);
  }
};

// When each op starts in a plain step; one entry more for the end.
std::vector<Nanoseconds> plain_starts(const PlanningProblem& problem);

class CapuchinCandidates {
 public:
  CapuchinCandidates(const PlanningProblem& problem, const PlannerOptions& options);

  std::vector<CapuchinCandidate>& list() { return list_; }
  CapuchinCandidate& operator[](std::size_t i) { return list_[i]; }
  // Marks a candidate as recomputed: whoever reads it for its own remaking now reads its sources instead and
  // takes so much longer.
  void recompute(std::size_t i);

 private:
  void find_sources(const PlanningProblem& problem, const std::vector<std::vector<OpIndex>>& ops);
  void add_source(std::size_t i, std::size_t source);

  std::vector<CapuchinCandidate> list_;
  std::vector<std::vector<std::size_t>>
      readers_;  // by candidate: who has it among its sources, now or before
};

}  // namespace ebb
