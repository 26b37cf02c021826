#include "planners/ebb/portfolio.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <limits>
#include <span>

namespace ebb {
namespace {

// The most promising first, then in turns.
constexpr std::array kLinkPrices = {0.3, 1.0, 0.05, 5.0, 0.0, 0.1, 0.5, 2.0, 0.2, 0.02};
constexpr double kMiddlingPrice = 0.3;

// Planners that answer in milliseconds however long the program; those that are not built in are passed over.
constexpr std::array<std::string_view, 15> kQuickPlanners = {
    "drop-cheap",      "autoswap-swdoa", "autoswap-doa",   "capuchin", "dtr",
    "dtr-eq",          "dtr-local",      "superneurons",   "greedy",   "dynprog",
    "checkpoint-sqrt", "geeps",          "sublinear-cost", "chain-dp", "chain-dp-offload"};
// Planners that do so for programs that are not too long.
constexpr std::array<std::string_view, 12> kOtherPlanners = {
    "excess-area",       "autoswap-aoa",           "autoswap-wdoa",  "autoswap-bo", "sublinear", "recursive",
    "superneurons-swap", "superneurons-recompute", "vdnn-threshold", "vdnn++",      "tflms",     "ondemand"};
constexpr OpIndex kNotTooLong = 2'500;  // ops

bool is_asked(std::string_view name, const Program& program) {
  auto in = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  return in(kQuickPlanners) || (program.op_count() <= kNotTooLong && in(kOtherPlanners));
}

// Everything that may leave does, over the link where possible: the least that any plan needs at each op.
Plan without_all(const PlanningProblem& problem, const std::vector<Choice>& choices) {
  Plan plan = Plan::keep_all(problem.gaps);
  for (const Choice& choice : choices)
    plan[choice.gap] = untimed(choice.can_swap ? Action::swap : Action::recompute);
  return plan;
}

Plan without_timing(Plan plan) {
  for (Decision& decision : plan.decisions) {
    auto stays = std::move(decision.stays);
    decision = untimed(decision.action);
    decision.stays = std::move(stays);
  }
  return plan;
}

bool costs_nothing(const Incumbent& incumbent) {
  return incumbent.feasible() && incumbent.step.step_time <= incumbent.step.plain_time;
}

// What is tried has a rank: its place in the order in which one thread would try it. Two threads try the
// same, and what ranks behind a plan that costs nothing is forgotten, whoever was quicker.
class StartFinder {
 public:
  StartFinder(const PlanningProblem& problem, const PlannerOptions& options,
              const std::vector<Choice>& choices, LocalSearch& search, LocalSearch* with_the_dead,
              Evaluator& evaluate, const SearchBudget& budget)
      : problem_(problem),
        options_(options),
        choices_(choices),
        search_(search),
        with_the_dead_(with_the_dead),
        evaluate_(evaluate),
        budget_(budget),
        prices_(std::span(kLinkPrices).first(options.allow_swap ? kLinkPrices.size() : 1)),
        built_(2 * prices_.size()),
        quick_(options) {
    for (const Planner& planner : planners())
      if (is_asked(planner.name, problem.program)) asked_.push_back(&planner);
    answers_.resize(asked_.size());
    quick_.progress = nullptr;
    quick_.settings.clear();
    quick_.evaluations = 0;
    quick_.start.reset();
  }

  Starts find() {
    begin_with_the_given();
    if (options_.threads > 1)
      try_on_two_threads();
    else
      try_in_order();
    std::vector<StartingPoint>& points = found_.points;
    if (points.empty())
      if (Incumbent made = complete(without_all(problem_, choices_), {}); made.feasible())
        join({std::move(made), "moving everything", kMiddlingPrice});
    if (points.empty()) points.push_back({std::move(failed_), "prices", kMiddlingPrice});
    put_best_first(points);
    found_.evaluations += evaluate_.count();
    return std::move(found_);
  }

 private:
  struct Built {
    Incumbent made = {};
    bool tried = false;
    std::int64_t evaluations = 0;
  };

  void begin_with_the_given() {
    if (!options_.start) return;
    add(*options_.start, "the given plan");
    if (!found_.points.empty()) return;
    Incumbent made = complete(without_timing(*options_.start), {.link = kMiddlingPrice});
    if (made.feasible()) join({std::move(made), "the given plan", kMiddlingPrice});
  }

  void try_in_order() {
    for (std::size_t rank = 0; rank < built_.size(); ++rank) {
      if (is_with_the_dead(rank) && !with_the_dead_) continue;
      build(rank);
      join_built(rank);
      if (is_done()) return;
    }
    for (std::size_t k = 0; k < asked_.size() && !is_done(); ++k) {
      ask(k);
      join_answer(k);
    }
  }

  void try_on_two_threads() {
    struct End {
      std::atomic<std::size_t>& enough_at;
      ~End() { enough_at = 0; }
    };
    std::future<void> beside = std::async(std::launch::async, [this] {
      for (std::size_t rank = 1; with_the_dead_ && rank < built_.size() && may_try(rank); rank += 2)
        build(rank);
      ask_the_next();
    });
    {
      const End end{enough_at_};
      for (std::size_t rank = 0; rank < built_.size() && (rank == 0 || may_try(rank)); rank += 2) {
        build(rank);
        tell(built_[rank].made);
      }
      ask_the_next();
      beside.wait();
    }
    beside.get();
    for (std::size_t rank = 0; rank < built_.size(); ++rank) {
      if (!built_[rank].tried) continue;
      join_built(rank);
      if (is_done_but_for_time()) return;
    }
    for (std::size_t k = 0; k < asked_.size() && !is_done_but_for_time(); ++k)
      if (answers_[k]) join_answer(k);
  }

  static bool is_with_the_dead(std::size_t rank) { return rank % 2 == 1; }

  void build(std::size_t rank) {
    LocalSearch& search = is_with_the_dead(rank) ? *with_the_dead_ : search_;
    const Prices prices{.link = prices_[rank / 2]};
    const std::int64_t before = search.evaluations();
    Built& built = built_[rank];
    built.made = is_with_the_dead(rank) ? search.construct_with_the_dead(prices) : search.construct(prices);
    built.tried = true;
    built.evaluations = search.evaluations() - before;
    if (!costs_nothing(built.made)) return;
    std::size_t known = enough_at_;
    while (rank + 1 < known && !enough_at_.compare_exchange_weak(known, rank + 1)) {
    }
  }

  void ask(std::size_t k) { answers_[k] = asked_[k]->plan(problem_, quick_); }
  void ask_the_next() {
    for (std::size_t k = next_to_ask_++; k < asked_.size() && may_try(built_.size() + k); k = next_to_ask_++)
      ask(k);
  }

  bool may_try(std::size_t rank) const { return rank < enough_at_ && !(budget_.stop && budget_.stop()); }

  void join_built(std::size_t rank) {
    Built& built = built_[rank];
    found_.evaluations += built.evaluations;
    const double price = std::max(prices_[rank / 2], 0.05);
    if (built.made.feasible())
      join({std::move(built.made), is_with_the_dead(rank) ? "the dead" : "prices", price,
            is_with_the_dead(rank), true});
    else if (!is_with_the_dead(rank))
      failed_ = std::move(built.made);
  }

  void join_answer(std::size_t k) {
    PlanningResult& answer = *answers_[k];
    if (answer.infeasible) return;
    add(without_timing(answer.plan), std::string(asked_[k]->name));
    add(std::move(answer.plan), std::string(asked_[k]->name));
  }

  void add(Plan plan, std::string from) {
    StepResult step = evaluate_(plan);
    if (!step.infeasible) join({{std::move(plan), std::move(step)}, std::move(from), kMiddlingPrice});
  }

  Incumbent complete(Plan plan, const Prices& prices) {
    const std::int64_t before = search_.evaluations();
    Incumbent made = search_.complete(std::move(plan), prices);
    found_.evaluations += search_.evaluations() - before;
    return made;
  }

  void join(StartingPoint start) {
    std::vector<StartingPoint>& points = found_.points;
    points.push_back(std::move(start));
    if (points.size() > 1 && !points.back().incumbent.beats(points[best_].incumbent)) return;
    best_ = points.size() - 1;
    tell(points[best_].incumbent);
  }

  void tell(const Incumbent& made) {
    if (!made.feasible() || made.step.step_time >= told_) return;
    told_ = made.step.step_time;
    if (budget_.round) budget_.round(0, made);
  }

  bool is_done() const { return (budget_.stop && budget_.stop()) || is_done_but_for_time(); }
  bool is_done_but_for_time() const {
    return !found_.points.empty() && costs_nothing(found_.points[best_].incumbent);
  }

  const PlanningProblem& problem_;
  const PlannerOptions& options_;
  const std::vector<Choice>& choices_;
  LocalSearch& search_;
  LocalSearch* with_the_dead_;
  Evaluator& evaluate_;
  const SearchBudget& budget_;
  std::span<const double> prices_;
  std::vector<Built> built_;  // by rank: at each price without and with the dead
  PlannerOptions quick_;
  std::vector<const Planner*> asked_;  // these rank behind what is built
  std::vector<std::optional<PlanningResult>> answers_;
  std::atomic<std::size_t> next_to_ask_ = 0;
  std::atomic<std::size_t> enough_at_ = std::numeric_limits<std::size_t>::max();  // a rank: need not be tried
  Starts found_;
  std::size_t best_ = 0;
  Nanoseconds told_ = std::numeric_limits<Nanoseconds>::max();
  Incumbent failed_;
};

}  // namespace

void put_best_first(std::vector<StartingPoint>& points) {
  std::stable_sort(points.begin(), points.end(), [](const StartingPoint& a, const StartingPoint& b) {
    return a.incumbent.beats(b.incumbent);
  });
}

Starts find_starts(const PlanningProblem& problem, const PlannerOptions& options,
                   const std::vector<Choice>& choices, LocalSearch& search, LocalSearch* with_the_dead,
                   Evaluator& evaluate, const SearchBudget& budget) {
  return StartFinder(problem, options, choices, search, with_the_dead, evaluate, budget).find();
}

}  // namespace ebb
