#include "planners/largest_batch.h"

#include "plan/smallest_limit.h"

namespace ebb {
namespace {

constexpr std::int64_t kProbe = 2000;  // evaluations
constexpr std::int64_t kMostSamples = std::int64_t{1} << 40;

class BatchSearch {
 public:
  BatchSearch(const BatchModel& model, const Machine& machine, Bytes limit, const Planner& planner)
      : model_(model), machine_(machine), limit_(limit), planner_(planner) {}

  JudgedPlan plan(std::int64_t batch, const PlannerOptions& options) const {
    const Program program = model_.at(batch);
    const Gaps gaps(program);
    const PlanningProblem problem{program, gaps, machine_, limit_};
    if (const OpNeed need = largest_op_need(program); need.bytes > limit_) {
      JudgedPlan none;
      none.infeasible = Infeasible{Obstacle::too_large, need.op, -1, need.bytes, limit_, ""};
      return none;
    }
    return plan_and_judge(planner_, problem, options);
  }

  bool fits_as_it_is(std::int64_t batch) const { return model_.at(batch).peak_demand() <= limit_; }
  bool may_fit(std::int64_t batch) const { return largest_op_need(model_.at(batch)).bytes <= limit_; }

 private:
  const BatchModel& model_;
  const Machine& machine_;
  const Bytes limit_;
  const Planner& planner_;
};

// The largest batch for which `fits`, which holds at `low`; at most `most`.
std::int64_t bisect(std::int64_t low, std::int64_t most, const auto& fits) {
  std::int64_t high = low;
  while (high < most && fits(high = std::min(most, 2 * high))) low = high;
  if (low == high) return low;
  while (low + 1 < high) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

LargestBatch find_largest_batch(const BatchModel& model, const Machine& machine, Bytes limit,
                                const Planner& planner, const PlannerOptions& options) {
  const BatchSearch search(model, machine, limit, planner);
  PlannerOptions probe = options;
  if (probe.evaluations == 0) probe.evaluations = kProbe;
  LargestBatch largest;
  auto fits = [&](std::int64_t batch) {
    JudgedPlan judged = search.plan(batch, probe);
    const bool feasible = !judged.infeasible;
    if (feasible || largest.batch == 0) largest = {feasible ? batch : 0, std::move(judged)};
    return feasible;
  };
  std::int64_t low = 1;
  if (search.fits_as_it_is(1))
    low = bisect(1, kMostSamples, [&](std::int64_t batch) { return search.fits_as_it_is(batch); });
  if (!fits(low)) return largest;
  const std::int64_t most =
      bisect(low, kMostSamples, [&](std::int64_t batch) { return search.may_fit(batch); });
  const std::int64_t best = bisect(low, most, fits);
  if (JudgedPlan final = search.plan(best, options); !final.infeasible) largest = {best, std::move(final)};
  return largest;
}

}  // namespace ebb
