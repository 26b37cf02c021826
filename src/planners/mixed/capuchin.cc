#include <algorithm>

#include "planners/mixed/capuchin_candidates.h"
#include "planners/mixed/mixed.h"
#include "planners/mixed/triggered.h"

namespace ebb {
namespace {

constexpr double kLeadStep = 0.05;  // of the copy time: how much earlier a late copy-in is triggered
constexpr int kMostFeedback = 60;   // runs

// Selection: swaps that hide, then whichever of a swap and a recomputation costs less.
class Selection {
 public:
  Selection(const PlanningProblem& problem, const PlannerOptions& options)
      : problem_(problem),
        most_(options.evaluations),
        candidates_(problem, options),
        plan_(Plan::keep_all(problem.gaps)),
        evaluate_(problem) {
    for (OpIndex j = 0; j < problem.program.op_count(); ++j)
      missing_.push_back(problem.program.demand(j) - problem.limit);
    for (std::size_t i = 0; i < candidates_.list().size(); ++i) by_free_time_.push_back(i);
    std::stable_sort(by_free_time_.begin(), by_free_time_.end(), [&](std::size_t a, std::size_t b) {
      return candidates_[a].free_time > candidates_[b].free_time;
    });
  }

  std::optional<Infeasible> run() {
    for (std::size_t i : by_free_time_)
      if (candidates_[i].free_time >= 0 && candidates_[i].swappable && helps(candidates_[i])) choose_swap(i);
    for (;;) {
      while (worst_missing() > 0 && choose_cheapest()) {
      }
      const std::optional<Infeasible> failure = evaluate_(plan_).infeasible;
      if (!failure || (most_ > 0 && evaluate_.count() >= most_)) return failure;
      if (!correct(*failure)) return failure;
    }
  }

  Evaluator& evaluator() { return evaluate_; }
  const Plan& plan() const { return plan_; }

 private:
  Bytes worst_missing() const { return *std::max_element(missing_.begin(), missing_.end()); }

  bool helps(const CapuchinCandidate& candidate) {
    const Gap& gap = problem_.gaps[candidate.gap];
    if (next_missing_.empty()) list_missing();
    return next_missing_[static_cast<std::size_t>(gap.from) + 1] < gap.to;
  }

  void list_missing() {
    next_missing_.assign(missing_.size() + 1, static_cast<OpIndex>(missing_.size()));
    for (std::size_t j = missing_.size(); j-- > 0;)
      next_missing_[j] = missing_[j] > 0 ? static_cast<OpIndex>(j) : next_missing_[j + 1];
  }

  void take(const CapuchinCandidate& candidate, Action action) {
    const Gap& gap = problem_.gaps[candidate.gap];
    plan_[candidate.gap].action = action;
    const Bytes bytes = action == Action::keep ? -candidate.bytes : candidate.bytes;
    for (OpIndex j = gap.from + 1; j < gap.to; ++j) missing_[static_cast<std::size_t>(j)] -= bytes;
    next_missing_.clear();
  }

  void choose_swap(std::size_t i) {
    candidates_[i].action = Action::swap;
    take(candidates_[i], Action::swap);
  }

  bool choose_cheapest() {
    const CapuchinCandidate* swap = nullptr;
    const CapuchinCandidate* remake = nullptr;
    for (const CapuchinCandidate& candidate : candidates_.list()) {
      if (candidate.action != Action::keep || !helps(candidate)) continue;
      if (candidate.swappable && (!swap || candidate.free_time > swap->free_time)) swap = &candidate;
      if (candidate.remakable && (!remake || candidate.saving_rate() > remake->saving_rate()))
        remake = &candidate;
    }
    if (!swap && !remake) return false;
    const CapuchinCandidate* first = candidates_.list().data();
    if (!remake || (swap && -swap->free_time < remake->remaking + remake->burden)) {
      choose_swap(static_cast<std::size_t>(swap - first));
    } else {
      candidates_.recompute(static_cast<std::size_t>(remake - first));
      take(*remake, Action::recompute);
    }
    return true;
  }

  // What the run showed: an op needs more than the estimate, or a recomputation is impossible here.
  bool correct(const Infeasible& failure) {
    if (failure.obstacle == Obstacle::too_large) {
      missing_[static_cast<std::size_t>(failure.op)] =
          std::max(missing_[static_cast<std::size_t>(failure.op)], Bytes{0}) + failure.needed -
          failure.available;
      next_missing_.clear();
      return choose_cheapest();
    }
    CapuchinCandidate* guilty = nullptr;
    for (CapuchinCandidate& candidate : candidates_.list())
      if (candidate.action == Action::recompute &&
          (!guilty || problem_.gaps[candidate.gap].block == failure.block))
        guilty = &candidate;
    if (!guilty) return false;
    take(*guilty, Action::keep);
    guilty->action = Action::keep;
    guilty->remakable = false;
    return true;
  }

  const PlanningProblem& problem_;
  const std::int64_t most_;
  CapuchinCandidates candidates_;
  std::vector<std::size_t> by_free_time_;
  std::vector<Bytes> missing_;         // by op: how far it is above the limit with what was chosen
  std::vector<OpIndex> next_missing_;  // by op: the first from there on that is above it; empty: to be listed
  Plan plan_;
  Evaluator evaluate_;
};

// When the copies back start: at the access less the copy time, and earlier as long as runs show waits.
class Feedback {
 public:
  Feedback(const PlanningProblem& problem, const PlannerOptions& options, Selection& selection)
      : problem_(problem),
        most_(options.evaluations),
        starts_(plain_starts(problem)),
        evaluate_(selection.evaluator()),
        plan_(selection.plan()),
        lowered_(evaluate_.lowered()) {
    for (const Swap& swap : lowered_.swaps) {
      lead_.push_back(1);
      triggers_.push_back({swap.gap, 0});
      place(triggers_.size() - 1);
    }
  }

  Plan run() {
    Plan best;
    Nanoseconds best_time = 0;
    for (int round = 0; round < kMostFeedback; ++round) {
      const Plan timed = with_triggers(plan_, lowered_, triggers_);
      const StepResult step = evaluate_(timed, timeline_);
      if (step.infeasible) break;
      if (best.decisions.empty() || step.step_time < best_time) {
        best = timed;
        best_time = step.step_time;
      }
      if ((most_ > 0 && evaluate_.count() >= most_) || !trigger_earlier()) break;
    }
    return best.decisions.empty() ? plan_ : best;
  }

 private:
  OpIndex needed_at(std::size_t i) const { return lowered_.swaps[i].needed_at; }

  // The last op that starts before the lead.
  OpIndex place(std::size_t i) {
    const auto copy = static_cast<double>(problem_.machine.copy_in_time(lowered_.swaps[i].bytes));
    const Nanoseconds from =
        starts_[static_cast<std::size_t>(needed_at(i))] - static_cast<Nanoseconds>(lead_[i] * copy);
    const auto later = std::upper_bound(starts_.begin(), starts_.end(), from);
    triggers_[i].position = std::max<OpIndex>(0, static_cast<OpIndex>(later - starts_.begin()) - 1);
    return triggers_[i].position;
  }

  // False if nobody waited or no trigger can move.
  bool trigger_earlier() {
    list_copies_in();
    std::vector<bool> is_late(triggers_.size(), false);
    std::vector<std::size_t> late;
    for (const Stall& stall : timeline_.stalls)
      for (std::size_t i = 0; stall.cause == StallCause::copy_in && i < triggers_.size(); ++i)
        if (needed_at(i) == stall.op) blame(i, is_late, late);
    bool moved = false;
    for (std::size_t i : late) {
      const OpIndex before = triggers_[i].position;
      if (before <= lowered_.swaps[i].in_from) continue;
      do lead_[i] += kLeadStep;
      while (place(i) == before && before > 0);
      moved = true;
    }
    return moved;
  }

  void list_copies_in() {
    copies_in_.clear();
    last_copy_in_.assign(triggers_.size(), 0);
    std::vector<std::size_t> trigger_of(static_cast<std::size_t>(problem_.gaps.count()));
    for (std::size_t i = 0; i < triggers_.size(); ++i)
      trigger_of[static_cast<std::size_t>(triggers_[i].gap)] = i;
    for (const Span& span : timeline_.spans) {
      if (span.lane != Lane::in) continue;
      const std::size_t i = trigger_of[static_cast<std::size_t>(span.gap)];
      copies_in_.push_back({span.start, span.end, i});
      last_copy_in_[i] = copies_in_.size();
    }
  }

  // A copy is late by itself, or because the link was busy with those before it.
  void blame(std::size_t i, std::vector<bool>& is_late, std::vector<std::size_t>& late) const {
    for (std::size_t k = last_copy_in_[i]; k-- > 0;) {
      const CopyIn& copy = copies_in_[k];
      if (k + 1 < last_copy_in_[i] && copy.end != copies_in_[k + 1].start) return;
      if (!is_late[copy.trigger]) late.push_back(copy.trigger);
      is_late[copy.trigger] = true;
    }
  }

  struct CopyIn {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::size_t trigger = 0;
  };
  const PlanningProblem& problem_;
  const std::int64_t most_;
  const std::vector<Nanoseconds> starts_;
  Evaluator& evaluate_;
  const Plan& plan_;
  const LoweredPlan lowered_;      // with every copy back as early as there is room
  std::vector<Trigger> triggers_;  // by swap
  std::vector<double> lead_;       // by swap, in copy times
  // Of the last run, in the order of the link; by swap, the end of its last one's place in that list.
  std::vector<CopyIn> copies_in_;
  std::vector<std::size_t> last_copy_in_;
  Timeline timeline_;
};

}  // namespace

PlanningResult plan_capuchin(const PlanningProblem& problem, const PlannerOptions& options) {
  Selection selection(problem, options);
  PlanningResult result;
  result.infeasible = selection.run();
  result.plan = result.infeasible ? selection.plan() : Feedback(problem, options, selection).run();
  result.evaluations = selection.evaluator().count();
  return result;
}

}  // namespace ebb
