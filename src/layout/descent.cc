#include "layout/descent.h"

#include <algorithm>
#include <utility>

#include "layout/ground.h"

namespace ebb::layout {
namespace {

constexpr std::int64_t kFirstSteps = 20'000;
constexpr std::int64_t kGrowth = 2;  // of the steps from one pass to the next
constexpr Units kSmallestStep = 16;  // the last attempts of a pass go down by a 16th of what is left

class Descent {
 public:
  Descent(const Instance& part, PartLayout start, std::uint64_t seed, SearchBudget& budget)
      : part_(part), best_(std::move(start)), seed_(seed), budget_(budget) {}

  // Half of the effort goes to the goal itself, half to coming closer: by large steps first, then by small
  // ones.
  PartLayout run(Units goal) {
    for (std::int64_t steps = kFirstSteps;; steps *= kGrowth) {
      if (is_done(goal) || fits_below(lowest(goal), steps)) return std::move(best_);
      for (Units divisor = 2; divisor <= kSmallestStep && !is_done(goal);) {
        const Units gap = best_.height - lowest(goal);
        if (!fits_below(best_.height - (gap + divisor - 1) / divisor, steps / 4)) divisor *= 2;
      }
    }
  }

 private:
  Units lowest(Units goal) const { return std::max(goal, best_.lower_bound); }
  bool is_done(Units goal) const { return best_.height <= lowest(goal) || budget_.is_spent(); }

  bool fits_below(Units ceiling, std::int64_t steps) {
    --budget_.steps;  // so that even attempts that take no step come to an end
    SearchResult result = budget_.lend(
        steps, [&](SearchBudget& share) { return search_valleys(part_, ceiling, seed_++, share); });
    if (result.end == SearchEnd::kDoesNotFit) best_.lower_bound = std::max(best_.lower_bound, ceiling + 1);
    if (result.end != SearchEnd::kFits) return false;
    best_.height = height_of(part_, result.offsets);
    best_.offsets = std::move(result.offsets);
    return true;
  }

  const Instance& part_;
  PartLayout best_;
  std::uint64_t seed_;
  SearchBudget& budget_;
};

}  // namespace

PartLayout lower_to(Units goal, const Instance& part, PartLayout start, std::uint64_t seed,
                    SearchBudget& budget) {
  return Descent(part, std::move(start), seed, budget).run(goal);
}

}  // namespace ebb::layout
