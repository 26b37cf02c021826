#include <algorithm>
#include <limits>

#include "planners/evaluator.h"
#include "planners/swap/layers.h"
#include "planners/swap/swap.h"

namespace ebb {
namespace {

constexpr std::int64_t kUsualEvaluations = 200;
constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max() / 4;

// How many tensors are swapped, and how many layers before its use each returns.
struct Parameters {
  int tensors = 0;
  int layers = 0;
};

class FixedDistance {
 public:
  FixedDistance(const PlanningProblem& problem, bool allow_swap)
      : problem_(problem), layers_(problem.program) {
    const OpIndex peak = problem.program.peak_op();
    for (GapId g = 0; allow_swap && g < problem.gaps.count(); ++g) {
      const Gap& gap = problem.gaps[g];
      const bool made_here = problem.program.block(gap.block).lifetime != Lifetime::persistent;
      if (made_here && gap.kind == GapKind::between && gap.from < peak && peak < gap.to)
        tensors_.push_back(g);
    }
    std::stable_sort(tensors_.begin(), tensors_.end(),
                     [&](GapId a, GapId b) { return problem.gaps[a].from < problem.gaps[b].from; });
  }

  PlanningResult best(std::int64_t evaluations) {
    attempt({});
    const std::vector<int> distances = some_distances();
    for (std::size_t i = 0; i < distances.size() && best_time_ != plain_time_; ++i)
      attempt_counts(distances[i],
                     (evaluations - evaluate_.count()) / static_cast<std::int64_t>(distances.size() - i));
    PlanningResult result{.plan = plan(best_), .evaluations = evaluate_.count()};
    if (best_time_ > 0)
      result.findings = {{"tensors", static_cast<double>(best_.tensors), ""},
                         {"layers ahead", static_cast<double>(best_.layers), ""}};
    else
      result.infeasible = Infeasible{Obstacle::too_large, least_at_, -1, least_, problem_.limit, ""};
    return result;
  }

 private:
  // Every one that is small, and fewer and fewer of the large ones.
  std::vector<int> some_distances() const {
    std::vector<int> distances;
    for (int distance = 1; distance <= layers_.count(); distance += std::max(1, distance / 2))
      distances.push_back(distance);
    return distances;
  }

  OpIndex return_position(GapId g, int layers) const {
    const Gap& gap = problem_.gaps[g];
    const int layer = std::max(0, layers_.of(gap.to) - layers);
    return std::max(gap.from + 1, layers_.begin(layer));
  }

  Plan plan(Parameters parameters) const {
    Plan plan = Plan::keep_all(problem_.gaps);
    for (int i = 0; i < parameters.tensors; ++i) {
      const GapId g = tensors_[static_cast<std::size_t>(i)];
      plan[g].action = Action::swap;
      plan[g].out_after = problem_.gaps[g].from;
      plan[g].in_from = return_position(g, parameters.layers);
    }
    return plan;
  }

  // The fewest tensors with which all that must be present fits, or one more than there are.
  int fewest_tensors(int layers) const {
    std::vector<Bytes> need;
    for (OpIndex j = 0; j < problem_.program.op_count(); ++j) need.push_back(problem_.program.demand(j));
    auto fits = [&] { return *std::max_element(need.begin(), need.end()) <= problem_.limit; };
    int count = 0;
    for (const GapId g : tensors_) {
      if (fits()) return count;
      const OpIndex back = return_position(g, layers);
      for (OpIndex j = problem_.gaps[g].from + 1; j < back; ++j)
        need[static_cast<std::size_t>(j)] -= problem_.program.block(problem_.gaps[g].block).bytes;
      ++count;
    }
    return fits() ? count : count + 1;
  }

  void attempt_counts(int layers, std::int64_t evaluations) {
    const int most = static_cast<int>(tensors_.size());
    const int fewest = fewest_tensors(layers);
    const std::int64_t spare = most - fewest;
    if (spare < 0 || evaluations < 1) return;
    const std::int64_t steps = std::min(spare, evaluations - 1);
    for (std::int64_t i = 0; i <= steps; ++i)
      attempt({fewest + static_cast<int>(steps == 0 ? 0 : spare * i / steps), layers});
  }

  // Simulates without a limit: nothing ever waits for room. What is then above the limit does not fit.
  void attempt(Parameters parameters) {
    const StepResult step = evaluate_(plan(parameters));
    if (step.infeasible) return;
    plain_time_ = step.plain_time;
    const std::vector<Bytes>& need = evaluate_.lowered().need;
    const auto most = std::max_element(need.begin(), need.end());
    const Bytes peak = std::max(*most, step.peak_demand);
    if (peak < least_) {
      least_ = peak;
      least_at_ = static_cast<OpIndex>(most - need.begin());
    }
    if (peak > problem_.limit || (best_time_ > 0 && best_time_ <= step.step_time)) return;
    best_ = parameters;
    best_time_ = step.step_time;
  }

  const PlanningProblem& problem_;
  const PlanningProblem unlimited_{problem_.program, problem_.gaps, problem_.machine, kUnlimited};
  Layers layers_;
  Evaluator evaluate_{unlimited_};
  std::vector<GapId> tensors_;  // idle across the peak, in order of the access before
  Parameters best_;
  Nanoseconds best_time_ = 0;  // 0: nothing fits so far
  Nanoseconds plain_time_ = 0;
  Bytes least_ = kUnlimited;  // the lowest peak seen, and where
  OpIndex least_at_ = 0;
};

}  // namespace

PlanningResult plan_tflms(const PlanningProblem& problem, const PlannerOptions& options) {
  const std::int64_t evaluations = options.evaluations > 0 ? options.evaluations : kUsualEvaluations;
  return FixedDistance(problem, options.allow_swap).best(evaluations);
}

}  // namespace ebb
