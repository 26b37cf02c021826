#include <algorithm>
#include <chrono>
#include <map>

#include "planners/evaluator.h"
#include "planners/swap/bayesian_search.h"
#include "planners/swap/swap.h"
#include "planners/swap/swap_selection.h"

namespace ebb {
namespace {

constexpr std::int64_t kUsualEvaluations = 40;  // [SP] §VI-B2: converges within 30 to 40
constexpr std::int64_t kMostEvaluations = 200;  // the cost of a proposal grows with the cube of their number
constexpr int kKnownInARow = 12;                // proposals that lead to no new plan: converged

Bytes smallest_candidate(const PlannerOptions& options) {
  return static_cast<Bytes>(value_of(kSmallestCandidate, options) * static_cast<double>(kMiB));
}

Finding load_min_of(const SwapSelector& selector) {
  return {"load_min", static_cast<double>(selector.load_min()), "bytes"};
}

PlanningResult plan_by(Score score, const PlanningProblem& problem, const PlannerOptions& options) {
  PlanningResult result;
  Evaluator evaluate(problem);
  std::vector<GapId> swapped;
  if (options.allow_swap) {
    const SwapSelector selector(problem, smallest_candidate(options));
    swapped = selector.select(only(score));
    result.findings.push_back(load_min_of(selector));
  }
  result.plan = schedule_swaps(problem, swapped);
  result.infeasible = evaluate(result.plan).infeasible;
  result.evaluations = evaluate.count();
  return result;
}

// The search for weights. Many weights choose the same gaps: those are simulated once.
class WeightSearch {
 public:
  WeightSearch(const PlanningProblem& problem, const PlannerOptions& options)
      : problem_(problem),
        options_(options),
        budget_(options.evaluations > 0 ? std::min(options.evaluations, kMostEvaluations)
                                        : kUsualEvaluations),
        selector_(problem, smallest_candidate(options)),
        evaluate_(problem),
        search_(kScores, options.seed) {}

  PlanningResult run() {
    for (const Score score : {Score::doa, Score::aoa, Score::wdoa, Score::swdoa})
      if (tried_ < budget_) try_weights(only(score));
    int known_in_a_row = 0;
    while (!finished() && known_in_a_row < kKnownInARow) {
      const Eigen::VectorXd point = search_.propose();
      ScoreWeights weights;
      std::copy(point.begin(), point.end(), weights.begin());
      known_in_a_row = try_weights(weights) ? 0 : known_in_a_row + 1;
    }
    return result();
  }

 private:
  struct Outcome {
    Nanoseconds step_time = 0;  // 0: infeasible
    std::optional<Infeasible> infeasible;
  };

  // False if these weights choose what others chose before.
  bool try_weights(const ScoreWeights& weights) {
    const std::vector<GapId> swapped = selector_.select(weights);
    const auto [entry, is_new] = outcomes_.try_emplace(swapped);
    Outcome& outcome = entry->second;
    if (is_new) {
      const StepResult step = evaluate_(schedule_swaps(problem_, swapped));
      outcome = {step.infeasible ? 0 : step.step_time, step.infeasible};
      plain_time_ = std::max(plain_time_, step.plain_time);
    }
    ++tried_;
    const bool feasible = !outcome.infeasible;
    if (best_ == outcomes_.end() ||
        (feasible && (best_->second.infeasible || outcome.step_time < best_->second.step_time))) {
      best_ = entry;
      weights_ = weights;
    }
    worst_ = std::max(worst_, outcome.step_time);
    // What cannot be carried out counts as twice the worst that can.
    const Nanoseconds cost = feasible ? outcome.step_time : std::max<Nanoseconds>(2 * worst_, 1);
    search_.tell(Eigen::Map<const Eigen::Vector4d>(weights.data()), static_cast<double>(cost));
    rounds_.push_back({evaluate_.count(), best_->second.step_time, outcome.step_time, outcome.step_time});
    if (options_.progress)
      options_.progress({static_cast<double>(tried_) / static_cast<double>(budget_), best_->second.step_time,
                         evaluate_.count()});
    return is_new;
  }

  bool finished() const {
    if (tried_ >= budget_) return true;
    if (!best_->second.infeasible && best_->second.step_time <= plain_time_) return true;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    return options_.deadline_seconds > 0 && elapsed.count() > options_.deadline_seconds;
  }

  PlanningResult result() const {
    PlanningResult result{.plan = schedule_swaps(problem_, best_->first),
                          .infeasible = best_->second.infeasible,
                          .evaluations = evaluate_.count(),
                          .findings = {load_min_of(selector_)},
                          .rounds = rounds_};
    constexpr std::array kNames = {"weight of DOA", "weight of AOA", "weight of WDOA", "weight of SWDOA"};
    for (std::size_t k = 0; k < kScores; ++k) result.findings.push_back({kNames[k], weights_[k], ""});
    return result;
  }

  const PlanningProblem& problem_;
  const PlannerOptions& options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::int64_t budget_;
  SwapSelector selector_;
  Evaluator evaluate_;
  BayesianSearch search_;
  std::map<std::vector<GapId>, Outcome> outcomes_;
  std::map<std::vector<GapId>, Outcome>::const_iterator best_ = outcomes_.end();
  ScoreWeights weights_ = {};
  std::int64_t tried_ = 0;
  Nanoseconds worst_ = 0;
  Nanoseconds plain_time_ = 0;
  std::vector<SearchRound> rounds_;
};

}  // namespace

PlanningResult plan_autoswap_doa(const PlanningProblem& problem, const PlannerOptions& options) {
  return plan_by(Score::doa, problem, options);
}

PlanningResult plan_autoswap_aoa(const PlanningProblem& problem, const PlannerOptions& options) {
  return plan_by(Score::aoa, problem, options);
}

PlanningResult plan_autoswap_wdoa(const PlanningProblem& problem, const PlannerOptions& options) {
  return plan_by(Score::wdoa, problem, options);
}

PlanningResult plan_autoswap_swdoa(const PlanningProblem& problem, const PlannerOptions& options) {
  return plan_by(Score::swdoa, problem, options);
}

PlanningResult plan_autoswap_bo(const PlanningProblem& problem, const PlannerOptions& options) {
  if (!options.allow_swap) return plan_autoswap_swdoa(problem, options);
  return WeightSearch(problem, options).run();
}

}  // namespace ebb
