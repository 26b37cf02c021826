// Which gaps AutoSwap swaps ([SP] §IV-D): candidates in descending order of a weighted sum of their
// standardised scores, until the limit holds.
#pragma once

#include <vector>

#include "planners/swap/candidates.h"

namespace ebb {

using ScoreWeights = std::array<double, kScores>;

// Ranks by one score alone.
constexpr ScoreWeights only(Score score) {
  ScoreWeights weights = {};
  weights[static_cast<std::size_t>(score)] = 1;
  return weights;
}

class SwapSelector {
 public:
  // Blocks of less than `smallest` bytes are candidates only where no larger one is left.
  SwapSelector(const PlanningProblem& problem, Bytes smallest);

  // The least peak demand that swapping once reaches: all candidates across the peak are gone.
  Bytes load_min() const { return load_min_; }
  // Ascending. Below load_min one peak after the other is brought under the limit, each with its own
  // candidates, so that a block may leave more than once. Falls short only of limits that no swapping
  // reaches.
  std::vector<GapId> select(const ScoreWeights& weights) const;

 private:
  // What is there while each op runs, and what is gone.
  struct State {
    std::vector<Bytes> demand;
    std::vector<Bytes> load;
    std::vector<bool> swapped;  // by gap
  };

  State start() const;
  void swap(GapId g, State& state) const;
  std::vector<Candidate> candidates(OpIndex peak, const State& state) const;

  const PlanningProblem& problem_;
  CandidateFinder finder_;
  Bytes smallest_;
  std::vector<Candidate> across_peak_;  // standardised
  Bytes load_min_ = 0;
};

// Swaps these gaps, scheduled as [SP] §IV-E has it: out as soon as the access before the gap has ended, in
// order of that access; in as early as there is room, in order of need.
Plan schedule_swaps(const PlanningProblem& problem, const std::vector<GapId>& swapped);

}  // namespace ebb
