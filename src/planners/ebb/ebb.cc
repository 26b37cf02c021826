#include "planners/ebb/ebb.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "planners/ebb/enumerate.h"
#include "planners/ebb/footprint.h"
#include "planners/ebb/portfolio.h"
#include "planners/robustness.h"

namespace ebb {
namespace {

constexpr std::size_t kRacers = 4;   // starts that are searched from for a while,
constexpr std::int64_t kRace = 16;   // each with this part of the budget
constexpr std::size_t kChains = 2;   // searches with the rest, from the best of them,
constexpr std::int64_t kFinish = 5;  // and as many that finish, each with this part beyond
constexpr std::int64_t kWithFinish = kFinish + static_cast<std::int64_t>(kChains);
constexpr double kBeforeFinish = static_cast<double>(kFinish) / kWithFinish;  // of the progress
constexpr double kFarBehind = 0.01;           // of the plain step: not worth a search any more
constexpr std::int64_t kEnumerable = 20'000;  // plans
constexpr double kSearching = 0.6;            // of the time there is; the rest is for packing
constexpr double kHurried = 0.5;              // of its budget is all that a race could spend: fewer searches
constexpr double kMoment = 1e-3;              // seconds
constexpr double kSpread = 0.05;              // of durations, for the worst case
constexpr int kDraws = 6;
constexpr int kPlansForLess = 4;         // made again because the packed footprint is too large,
constexpr std::int64_t kLessEffort = 3;  // each with this part of the budget

// Ops are the measure of what a simulation costs.
std::int64_t default_evaluations(const Program& program, double effort) {
  const std::int64_t budget =
      std::clamp<std::int64_t>(30'000'000 / std::max(program.op_count(), 1), 500, 120'000);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(budget) * effort));
}

std::int64_t without_finish(std::int64_t evaluations) {
  return std::max<std::int64_t>(
      1, evaluations / kWithFinish * kFinish + evaluations % kWithFinish * kFinish / kWithFinish);
}

std::int64_t with_finish(std::int64_t evaluations) {
  return evaluations / kFinish * kWithFinish + evaluations % kFinish * kWithFinish / kFinish;
}

// All that one call of the planner shares.
class EbbSearch {
 public:
  EbbSearch(const PlanningProblem& problem, const PlannerOptions& options)
      : problem_(problem),
        options_(options),
        budget_(options.evaluations > 0
                    ? without_finish(options.evaluations)
                    : default_evaluations(problem.program, value_of(kEbbSettings[1], options))),
        choices_(find_choices(problem, options)) {
    if (options.allow_recompute) outliving_ = find_outliving(problem);
    std::vector<OutlivingBlock> worthwhile;
    for (const OutlivingBlock& block : outliving_)
      if (block.is_worthwhile()) worthwhile.push_back(block);
    if (!worthwhile.empty()) choices_with_the_dead_ = find_choices(problem, options, worthwhile);
  }

  PlanningResult run() {
    Evaluator evaluate(problem_);
    Incumbent best;
    const std::int64_t most = std::min(kEnumerable, with_finish(budget_));
    if (!options_.start && count_plans(choices_, {}, most) <= most) {
      std::vector<OutlivingBlock> tried = outliving_;
      while (!tried.empty() && count_plans(choices_, tried, most) > most) tried.pop_back();
      best = enumerate_plans(problem_, choices_, tried, evaluate);
      result_.evaluations = evaluate.count();
    } else {
      best = search(evaluate);
    }
    result_.infeasible = best.step.infeasible;
    result_.plan = std::move(best.plan);
    if (!result_.infeasible && keeps_by_address() && !is_over(options_.deadline_seconds))
      keep_by_address(best.step.step_time);
    if (!result_.infeasible && best.step.step_time > best.step.plain_time) add_worst_case();
    return std::move(result_);
  }

 private:
  Incumbent search(Evaluator& evaluate) {
    LocalSearch builder(problem_, choices_, outliving_, options_.seed);
    LocalSearch keeper(problem_, choices_with_the_dead_, outliving_, options_.seed);
    SearchBudget budget{.stop = [this] { return out_of_time(); }};
    if (options_.progress)
      budget.round = [&](std::int64_t, const Incumbent& best) {
        options_.progress({0, best.step.step_time, evaluate.count() + builder.evaluations()});
      };
    const Starts starts = find_starts(problem_, options_, choices_, builder,
                                      choices_with_the_dead_.empty() ? nullptr : &keeper, evaluate, budget);
    result_.evaluations = starts.evaluations;
    const StartingPoint& best = starts.points.front();
    const StepResult& first = best.incumbent.step;
    if (first.infeasible || first.step_time <= first.plain_time) return best.incumbent;
    result_.findings.push_back({"started from " + best.from, first.ratio(), "x plain"});
    return improve(starts.points, std::max<std::int64_t>(budget_ - starts.evaluations, 0));
  }

  // The best starts of different origins, one of them built from nothing if there is one.
  static std::vector<StartingPoint> choose_racers(const std::vector<StartingPoint>& starts) {
    std::vector<StartingPoint> racing;
    bool has_built = std::none_of(starts.begin(), starts.end(), std::mem_fn(&StartingPoint::built));
    for (const StartingPoint& start : starts) {
      if (racing.size() == kRacers) break;
      if (racing.size() + 1 == kRacers && !has_built && !start.built) continue;
      if (std::any_of(racing.begin(), racing.end(),
                      [&](const auto& other) { return other.from == start.from; }))
        continue;
      racing.push_back(start);
      has_built = has_built || start.built;
    }
    return racing;
  }

  // Starts race; the best two go on, or the best one twice if the other is far behind; then the better of
  // these, twice, to the finish.
  Incumbent improve(const std::vector<StartingPoint>& starts, std::int64_t evaluations) {
    std::vector<StartingPoint> racing = choose_racers(starts);
    const std::int64_t race = evaluations / kRace;
    const std::int64_t rest = evaluations - race * static_cast<std::int64_t>(racing.size());
    const double raced = kBeforeFinish * static_cast<double>(racing.size()) / kRace;
    const std::int64_t chain = rest / static_cast<std::int64_t>(kChains), finish = budget_ / kFinish;
    const std::int64_t later = turns(kChains) * (chain + finish);
    const double spent =
        search_from(racing, {.each = race,
                             .seconds = seconds_for(race, turns(racing.size()) * race + later),
                             .first_seed = 1,
                             .end = raced});
    const bool is_hurried = spent < kHurried;
    put_best_first(racing);
    const StepResult& best = racing.front().incumbent.step;
    const auto near =
        best.step_time + static_cast<Nanoseconds>(kFarBehind * static_cast<double>(best.plain_time));
    if (racing.size() < kChains || racing[1].incumbent.step.step_time > near)
      racing.insert(racing.begin() + 1, racing.front());
    racing.resize(is_hurried ? parallel() : kChains);
    search_from(racing, {.each = chain,
                         .seconds = seconds_for(chain, turns(racing.size()) * (chain + finish)),
                         .first_seed = 1 + kRacers,
                         .begin = raced,
                         .end = kBeforeFinish});
    put_best_first(racing);
    std::fill(racing.begin() + 1, racing.end(), racing.front());
    search_from(racing, {.each = finish,
                         .seconds = seconds_for(finish, turns(racing.size()) * finish),
                         .first_seed = 1 + kRacers + kChains,
                         .begin = kBeforeFinish,
                         .finishes = true});
    put_best_first(racing);
    return std::move(racing[0].incumbent);
  }

  std::size_t parallel() const { return options_.threads > 1 ? 2 : 1; }
  // Searches that share the threads, one after the other.
  std::int64_t turns(std::size_t searches) const {
    return static_cast<std::int64_t>((searches + parallel() - 1) / parallel());
  }

  // Of the time that is left, for a search of so many evaluations when so many are to come.
  double seconds_for(std::int64_t evaluations, std::int64_t to_come) const {
    if (options_.deadline_seconds <= 0 || to_come <= 0) return 0;
    return time_left(search_deadline()) * static_cast<double>(evaluations) / static_cast<double>(to_come);
  }

  // Searches side by side: their evaluations, where their seeds begin, and which part of the progress they
  // are.
  struct Stage {
    std::int64_t each = 0;
    double seconds = 0;  // each; 0: however long
    std::uint64_t first_seed = 0;
    double begin = 0;
    double end = 1;
    bool finishes = false;
  };

  // The result does not depend on the threads. Only the calling thread reports. Answers which part of their
  // budgets the searches could spend: 1 unless time was short.
  double search_from(std::vector<StartingPoint>& points, const Stage& stage) {
    std::vector<std::int64_t> counts(points.size(), 0);
    std::vector<double> spent(points.size(), 1);
    auto run_every = [&](std::size_t first, std::size_t step, bool reports) {
      for (std::size_t i = first; i < points.size(); i += step) {
        StartingPoint& point = points[i];
        LocalSearch search(problem_, point.outliving ? choices_with_the_dead_ : choices_, outliving_,
                           options_.seed * 7919 + stage.first_seed + i);
        const double share = (stage.end - stage.begin) / static_cast<double>(points.size());
        SearchBudget budget{
            .evaluations = stage.each, .seconds = stage.seconds, .finishes = stage.finishes, .stop = [this] {
              return out_of_time();
            }};
        if (reports)
          budget.round = reporter(search, stage.each, stage.begin + share * static_cast<double>(i),
                                  share * static_cast<double>(step));
        point.incumbent = search.improve(point.incumbent, point.link_price, budget);
        counts[i] = search.evaluations();
        spent[i] = search.spent();
      }
    };
    if (options_.threads > 1) {
      std::jthread beside(run_every, 1, 2, false);
      run_every(0, 2, true);
    } else {
      run_every(0, 1, true);
    }
    for (const std::int64_t count : counts) result_.evaluations += count;
    const double least = *std::min_element(spent.begin(), spent.end());
    if (least < 1) result_.cut_short = true;
    return least;
  }

  void keep_by_address(Nanoseconds step_time) {
    int plans = 0;
    const layout::MakePlan for_less = [&](Bytes limit) -> std::optional<Plan> {
      if (++plans > kPlansForLess || is_over(options_.deadline_seconds)) return std::nullopt;
      const PlanningProblem less{problem_.program, problem_.gaps, problem_.machine, limit};
      PlannerOptions options = options_;
      options.start = result_.plan;
      options.progress = nullptr;
      options.evaluations = std::max<std::int64_t>(1, with_finish(budget_ / kLessEffort));
      options.settings["footprint"] = 0;
      if (options_.deadline_seconds > 0) options.deadline_seconds = time_left(options_.deadline_seconds) / 2;
      PlanningResult made = EbbSearch(less, options).run();
      result_.evaluations += made.evaluations;
      if (made.infeasible) return std::nullopt;
      return std::move(made.plan);
    };
    const double deadline = options_.deadline_seconds > 0 ? time_left(options_.deadline_seconds) : 0;
    PackedPlan packed = pack_plan(problem_, result_.plan, step_time, for_less, deadline, options_.threads);
    if (options_.start) {
      const double left = deadline > 0 ? time_left(options_.deadline_seconds) : 0;
      PackedPlan given = pack_plan(problem_, *options_.start, step_time, nullptr, left);
      if (given.fits && (!packed.fits || given.step_time < packed.step_time)) packed = std::move(given);
    }
    if (!packed.fits) return;
    result_.plan = std::move(packed.plan);
    result_.findings.push_back({"packed footprint", static_cast<double>(packed.footprint), "bytes"});
    if (packed.planned_for < problem_.limit)
      result_.findings.push_back({"made for", static_cast<double>(packed.planned_for), "bytes"});
  }

  // Of a search that is the part of the whole from `begin` on, `share` long.
  std::function<void(std::int64_t, const Incumbent&)> reporter(LocalSearch& search, std::int64_t evaluations,
                                                               double begin, double share) {
    return [this, &search, evaluations, begin, share](std::int64_t spent, const Incumbent& best) {
      const Nanoseconds told = result_.rounds.empty() ? best.step.step_time : result_.rounds.back().best;
      result_.rounds.push_back(
          {.evaluations = search.evaluations(), .best = std::min(told, best.step.step_time)});
      if (!options_.progress) return;
      const double part =
          static_cast<double>(spent) / static_cast<double>(std::max<std::int64_t>(evaluations, 1));
      options_.progress(
          {begin + share * std::min(part, 1.0), result_.rounds.back().best, search.evaluations()});
    };
  }

  void add_worst_case() {
    const auto robustness = judge_robustness(problem_, result_.plan, kSpread, kDraws, options_.seed);
    if (!robustness) return;
    result_.findings.push_back({"worst at times ±5 %", robustness->worst, "x plain"});
  }

  bool keeps_by_address() const { return value_of(kEbbSettings[0], options_) != 0; }
  double search_deadline() const { return options_.deadline_seconds * (keeps_by_address() ? kSearching : 1); }
  // A moment at least, because 0 would mean: no deadline.
  double time_left(double deadline) const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    return std::max(kMoment, deadline - spent.count());
  }
  bool is_over(double deadline) const { return deadline > 0 && time_left(deadline) <= kMoment; }
  bool out_of_time() const { return is_over(search_deadline()); }

  const PlanningProblem& problem_;
  const PlannerOptions& options_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::int64_t budget_;  // of all but the finish
  std::vector<Choice> choices_;
  std::vector<OutlivingBlock> outliving_;
  std::vector<Choice> choices_with_the_dead_;  // empty: no block is worth being kept past its death
  PlanningResult result_;
};

}  // namespace

PlanningResult plan_ebb(const PlanningProblem& problem, const PlannerOptions& options) {
  return EbbSearch(problem, options).run();
}

}  // namespace ebb
