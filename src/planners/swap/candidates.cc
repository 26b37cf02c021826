#include "planners/swap/candidates.h"

#include <algorithm>
#include <cmath>

namespace ebb {
namespace {

constexpr double kSecond = 1e9;

double& score(Candidate& candidate, Score which) { return candidate.scores[static_cast<std::size_t>(which)]; }

// Picks the highest, takes its bytes off the load of all that are idle at the same time, and so on. All
// contain the peak: so they overlap.
void settle_swdoa(std::vector<Candidate>& candidates) {
  std::vector<Candidate*> open;
  for (Candidate& candidate : candidates) open.push_back(&candidate);
  while (!open.empty()) {
    const auto highest = std::max_element(open.begin(), open.end(), [](Candidate* a, Candidate* b) {
      const double of_a = score(*a, Score::swdoa), of_b = score(*b, Score::swdoa);
      return of_a != of_b ? of_a < of_b : a->gap > b->gap;
    });
    const Candidate& picked = **highest;
    *highest = open.back();
    open.pop_back();
    for (Candidate* other : open) {
      const Nanoseconds together = std::min(picked.end, other->end) - std::max(picked.begin, other->begin);
      score(*other, Score::swdoa) -=
          static_cast<double>(picked.bytes) * static_cast<double>(together) / kSecond;
    }
  }
}

}  // namespace

CandidateFinder::CandidateFinder(const PlanningProblem& problem)
    : program_(problem.program),
      gaps_(problem.gaps),
      machine_(problem.machine),
      host_(problem.program, problem.gaps),
      clock_(problem.program, problem.machine),
      original_area_(area_under(problem.program.load())) {}

std::vector<double> CandidateFinder::area_under(const std::vector<Bytes>& load) const {
  std::vector<double> area;
  area.reserve(2 * load.size());
  double sum = 0;
  for (OpIndex j = 0; j < 2 * program_.op_count(); ++j) {
    const Bytes bytes = load[static_cast<std::size_t>(j % program_.op_count())];
    sum += static_cast<double>(bytes) * static_cast<double>(clock_.end(j) - clock_.end(j - 1)) / kSecond;
    area.push_back(sum);
  }
  return area;
}

double CandidateFinder::duration_of_absence(GapId g) const {
  const Gap& gap = gaps_[g];
  const Bytes bytes = program_.block(gap.block).bytes;
  Nanoseconds copies = 0;
  if (host_.last_write(g) != HostCopies::kNeverWritten) copies += machine_.copy_out_time(bytes);
  if (gap.kind != GapKind::trailing) copies += machine_.copy_in_time(bytes);
  return static_cast<double>(clock_.idle(gap) - copies) / kSecond;
}

std::vector<Candidate> CandidateFinder::find(OpIndex peak, Bytes smallest, const std::vector<bool>& marked,
                                             const std::vector<Bytes>& load) const {
  const std::vector<double> area = area_under(load);
  std::vector<Candidate> found;
  for (GapId g = 0; g < gaps_.count(); ++g) {
    const Gap& gap = gaps_[g];
    const Bytes bytes = program_.block(gap.block).bytes;
    if (bytes < smallest || marked[static_cast<std::size_t>(g)]) continue;
    const bool here = gap.from < peak && peak < gap.to;
    const bool next_step = gap.from < peak + program_.op_count() && peak + program_.op_count() < gap.to;
    if (!here && !next_step) continue;
    const Nanoseconds shift = here ? 0 : clock_.step();
    Candidate candidate{g, bytes, clock_.end(gap.from) - shift, clock_.end(gap.to - 1) - shift};
    auto under = [&](const std::vector<double>& curve) {
      return curve[static_cast<std::size_t>(gap.to) - 1] - curve[static_cast<std::size_t>(gap.from)];
    };
    const double doa = duration_of_absence(g);
    const double mebibytes = static_cast<double>(bytes) / static_cast<double>(kMiB);
    score(candidate, Score::doa) = doa;
    score(candidate, Score::aoa) = doa < 0 ? doa / mebibytes : doa * mebibytes;
    score(candidate, Score::wdoa) = under(original_area_);
    score(candidate, Score::swdoa) = under(area);
    found.push_back(candidate);
  }
  settle_swdoa(found);
  return found;
}

void standardise(std::vector<Candidate>& candidates) {
  const auto count = static_cast<double>(candidates.size());
  for (std::size_t k = 0; k < kScores; ++k) {
    double sum = 0, squares = 0;
    for (const Candidate& candidate : candidates) sum += candidate.scores[k];
    const double mean = sum / count;
    for (Candidate& candidate : candidates) {
      candidate.scores[k] -= mean;
      squares += candidate.scores[k] * candidate.scores[k];
    }
    const double deviation = std::sqrt(squares / count);
    for (Candidate& candidate : candidates)
      candidate.scores[k] = deviation > 0 ? candidate.scores[k] / deviation : 0;
  }
}

}  // namespace ebb
