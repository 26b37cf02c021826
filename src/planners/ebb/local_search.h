// Improves a plan that keeps the limit: takes a few decisions back — one, a neighbourhood in time —,
// exchanges what is absent or makes a layer's alike, repairs what then lacks room with noisy prices, restores
// what then has room, and keeps the result if it is better, or a little worse while the search is young
// (annealing on the exact simulator).
#pragma once

#include <functional>

#include "planners/ebb/repair.h"

namespace ebb {

struct Incumbent {
  Plan plan = {};
  StepResult step = {};  // infeasible: there is none
  bool feasible() const { return !step.infeasible.has_value() && step.step_time > 0; }
  // Is this the better one?
  bool beats(const Incumbent& other) const {
    return feasible() && (!other.feasible() || step.step_time < other.step.step_time);
  }
};

// The evaluations are of plans that replay little: one that replays as many ops as it has counts as one, one
// that replays twice as many as one and a half.
struct SearchBudget {
  std::int64_t evaluations = 0;
  double seconds = 0;               // 0: however long that takes
  bool finishes = false;            // a good plan: mostly by exchanges, and cools as fast as can be
  std::function<bool()> stop = {};  // asked now and then; may be empty
  std::function<void(std::int64_t, const Incumbent&)> round = {};  // called now and then; may be empty
};

class LocalSearch {
 public:
  // REQUIRES: what it is given outlives it.
  LocalSearch(const PlanningProblem& problem, const std::vector<Choice>& choices,
              const std::vector<OutlivingBlock>& outliving, std::uint64_t seed)
      : problem_(problem),
        choices_(choices),
        outliving_(outliving),
        evaluate_(problem),
        repair_(problem, choices),
        random_(seed) {}

  // A plan from nothing with these prices.
  Incumbent construct(const Prices& prices);
  // The same, with all blocks kept past their death that are worth it, as long as replays read them.
  Incumbent construct_with_the_dead(const Prices& prices);
  // A plan that was made for another limit, completed for this one; infeasible if that fails.
  Incumbent complete(Plan plan, const Prices& prices);
  // REQUIRES: `start` is feasible. The result is never worse.
  Incumbent improve(Incumbent start, double link_price, const SearchBudget& budget);
  std::int64_t evaluations() const { return evaluate_.count(); }
  // Which part of its evaluations the last improvement could spend; 1 unless it was stopped.
  double spent() const { return spent_; }

 private:
  void disturb(Plan& plan);
  void forget_around(Plan& plan);
  void exchange(Plan& plan);
  void flip_one(Plan& plan);
  void keep_the_dead(Plan& plan);
  void make_earlier(Plan& plan);
  void find_stalls(const Plan& plan);
  void treat_alike(Plan& plan);
  bool restore_what_fits(Plan& plan);
  double uniform() { return std::uniform_real_distribution<double>()(random_); }
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  void list_absent(const Plan& plan);
  std::size_t draw_absent();
  std::size_t draw_kept(const Plan& plan);
  bool draw_moving(const Choice& choice);
  void ban(std::size_t choice);

  const PlanningProblem& problem_;
  const std::vector<Choice>& choices_;
  const std::vector<OutlivingBlock>& outliving_;
  Evaluator evaluate_;
  Repair repair_;
  std::mt19937_64 random_;
  bool finishes_ = false;
  double spent_ = 1;
  std::vector<std::size_t> absent_;  // indices of choices that are not kept
  std::vector<char> banned_ = std::vector<char>(choices_.size());
  std::vector<std::size_t> banned_list_;
  std::vector<OpIndex> stalled_;  // positions that waited for a copy-in, as far as is known
  std::vector<Bytes> need_;       // by op, while decisions are taken back
};

}  // namespace ebb
