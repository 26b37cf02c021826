// AutoSwap's candidates ([SP] §IV-A): gaps of large blocks that contain the peak, and their priority scores
// ([SP] §IV-B).
#pragma once

#include <array>
#include <vector>

#include "plan/host_copies.h"
#include "planners/planner.h"
#include "planners/swap/plain_clock.h"

namespace ebb {

enum class Score : char { doa, aoa, wdoa, swdoa };
inline constexpr std::size_t kScores = 4;
using Scores = std::array<double, kScores>;

// Absent from `begin` to `end`, in a step unrolled so that this contains the peak.
struct Candidate {
  GapId gap = 0;
  Bytes bytes = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Scores scores = {};
};

class CandidateFinder {
 public:
  // REQUIRES: what the problem refers to outlives the finder.
  explicit CandidateFinder(const PlanningProblem& problem);

  // The gaps that contain op `peak`, of blocks of at least `smallest` bytes, except those marked; by gap id.
  //
  //   DOA    idle time less both copies, in seconds
  //   AOA    DOA x MiB; if DOA is negative, DOA / MiB
  //   WDOA   bytes x seconds under the original load while it is idle
  //   SWDOA  the same under `load`, less what candidates with a higher SWDOA take away: the peak may shift
  std::vector<Candidate> find(OpIndex peak, Bytes smallest, const std::vector<bool>& marked,
                              const std::vector<Bytes>& load) const;

 private:
  // Bytes x seconds up to the end of each op of two steps.
  std::vector<double> area_under(const std::vector<Bytes>& load) const;
  double duration_of_absence(GapId g) const;

  const Program& program_;
  const Gaps& gaps_;
  const Machine& machine_;
  HostCopies host_;
  PlainClock clock_;
  std::vector<double> original_area_;
};

// Each score with mean 0 and standard deviation 1 over the candidates; 0 if all are equal.
void standardise(std::vector<Candidate>& candidates);

}  // namespace ebb
