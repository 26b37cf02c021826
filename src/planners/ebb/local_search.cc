#include "planners/ebb/local_search.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "planners/ebb/thermostat.h"

namespace ebb {
namespace {

constexpr std::size_t kMostReplays = 1;  // times the ops, with the dead kept: chains are not for this start
constexpr std::size_t kNotWorthLowering = 4;  // times as many
constexpr double kEarlier = 0.15;             // how often a replay moves, if there are waits for copies
constexpr double kSettled = 0.5;              // of the budget left: what leaves is decided by then, roughly
constexpr double kRestoring = 0.3;            // how often what has room again is looked for
constexpr double kExchanging = 0.3;           // how often something leaves in place of others,
constexpr double kExchangingLast = 0.8;       // and at the finish
constexpr double kBanning = 0.7;              // how often what was taken back has to stay
constexpr double kFirstTemperature = 0.002;   // of the plain step

}  // namespace

Incumbent LocalSearch::construct(const Prices& prices) {
  Incumbent made{.plan = Plan::keep_all(problem_.gaps)};
  made.step = repair_(made.plan, evaluate_, prices, random_, banned_);
  return made;
}

Incumbent LocalSearch::construct_with_the_dead(const Prices& prices) {
  Incumbent made{.plan = Plan::keep_all(problem_.gaps)};
  for (const OutlivingBlock& block : outliving_)
    if (block.is_worthwhile()) keep_until(made.plan, problem_.gaps, block.gap, block.until + 1);
  const std::size_t most = kMostReplays * problem_.program.ops().size();
  repair_.give_up_beyond(most);
  evaluate_.give_up_beyond(kNotWorthLowering * most);
  made.step = repair_(made.plan, evaluate_, prices, random_, banned_);
  repair_.give_up_beyond(0);
  evaluate_.give_up_beyond(0);
  if (!made.feasible()) return made;
  Incumbent trimmed{.plan = made.plan};
  if (!trim_outliving(problem_, outliving_, evaluate_.lowered(), trimmed.plan)) return made;
  restore_what_fits(trimmed.plan);
  trimmed.step = repair_(trimmed.plan, evaluate_, prices, random_, banned_);
  return trimmed.beats(made) ? trimmed : made;
}

Incumbent LocalSearch::complete(Plan plan, const Prices& prices) {
  Incumbent made{.plan = std::move(plan)};
  made.step = repair_(made.plan, evaluate_, prices, random_, banned_);
  return made;
}

void LocalSearch::list_absent(const Plan& plan) {
  absent_.clear();
  for (std::size_t c = 0; c < choices_.size(); ++c)
    if (plan[choices_[c].gap].action != Action::keep) absent_.push_back(c);
}

// Large ones more often: what many small ones do hardly matters.
std::size_t LocalSearch::draw_absent() {
  const std::size_t one = absent_[below(absent_.size())];
  if (uniform() < 0.5) return one;
  const std::size_t other = absent_[below(absent_.size())];
  return choices_[other].bytes > choices_[one].bytes ? other : one;
}

// The larger one of two that stay, if a few draws find two.
std::size_t LocalSearch::draw_kept(const Plan& plan) {
  std::size_t chosen = choices_.size();
  for (int draws = 0; draws < 8; ++draws) {
    const std::size_t c = below(choices_.size());
    if (plan[choices_[c].gap].action != Action::keep) continue;
    if (chosen < choices_.size()) return choices_[c].bytes > choices_[chosen].bytes ? c : chosen;
    chosen = c;
  }
  return chosen;
}

// Does it move, rather than being made again?
bool LocalSearch::draw_moving(const Choice& choice) {
  return choice.can_swap && (!choice.can_recompute || uniform() < 0.5);
}

void LocalSearch::ban(std::size_t choice) {
  if (banned_[choice] || uniform() >= kBanning) return;
  banned_[choice] = 1;
  banned_list_.push_back(choice);
}

// A block that stays leaves in place of others, about as large together, that are absent at one op of its
// gap. One that moves takes the place of moves, mostly: the link is as short as memory.
void LocalSearch::exchange(Plan& plan) {
  const std::size_t chosen = draw_kept(plan);
  if (chosen == choices_.size()) return;
  const Choice& choice = choices_[chosen];
  const bool moves = draw_moving(choice);
  plan[choice.gap] = untimed(moves ? Action::swap : Action::recompute);
  const OpIndex ops = problem_.program.op_count();
  const auto span = static_cast<std::size_t>(choice.last - choice.first + 1);
  const OpIndex at = (choice.first + static_cast<OpIndex>(below(span))) % ops;
  Bytes left = choice.bytes;
  for (int draws = 0; draws < 30 && left > 0; ++draws) {
    const std::size_t c = absent_[below(absent_.size())];
    const Choice& other = choices_[c];
    Decision& decision = plan[other.gap];
    if (decision.action == Action::keep || other.bytes > 2 * left || !other.covers(at, ops)) continue;
    if (moves && decision.action != Action::swap && uniform() < 0.7) continue;
    decision = Decision{};
    left -= other.bytes;
    ban(c);
  }
}

void LocalSearch::flip_one(Plan& plan) {
  const Choice& choice = choices_[draw_absent()];
  Decision& decision = plan[choice.gap];
  if (decision.action == Action::swap && choice.can_recompute)
    decision = untimed(Action::recompute);
  else if (decision.action == Action::recompute && choice.can_swap)
    decision = untimed(Action::swap);
  else
    decision = Decision{};
}

// Takes back what is absent around a random gap: those that begin or end near it.
void LocalSearch::forget_around(Plan& plan) {
  const Choice& centre = choices_[draw_absent()];
  const OpIndex near =
      static_cast<OpIndex>(1 + below(static_cast<std::size_t>(problem_.program.op_count()) / 40 + 2));
  for (const std::size_t c : absent_) {
    const Choice& choice = choices_[c];
    if (std::abs(choice.first - centre.first) > near && std::abs(choice.last - centre.last) > near) continue;
    if (uniform() < 0.5) plan[choice.gap] = Decision{};
  }
}

// A block that dies while a later replay still reads it is kept for that replay, or no longer.
void LocalSearch::keep_the_dead(Plan& plan) {
  const OutlivingBlock& block = outliving_[below(outliving_.size())];
  const bool kept = is_kept_past_death(plan, problem_.gaps, block.gap);
  keep_until(plan, problem_.gaps, block.gap, kept ? 0 : block.until + 1);
}

void LocalSearch::find_stalls(const Plan& plan) {
  Timeline timeline;
  stalled_.clear();
  if (evaluate_(plan, timeline).infeasible) return;
  for (const Stall& stall : timeline.stalls)
    if (stall.cause == StallCause::copy_in) stalled_.push_back(stall.op);
}

// A dropped block is made again before an op in front of a wait for a copy, which then waits less; or as late
// as ever again.
void LocalSearch::make_earlier(Plan& plan) {
  const Choice& choice = choices_[draw_absent()];
  const Gap& gap = problem_.gaps[choice.gap];
  Decision& decision = plan[choice.gap];
  if (decision.action != Action::recompute || gap.kind == GapKind::trailing) return;
  const bool is_earlier = decision.stays.has_value();
  decision = untimed(Action::recompute);
  if (is_earlier) return;
  const OpIndex position = stalled_[below(stalled_.size())] - static_cast<OpIndex>(1 + below(3));
  if (position > gap.from + 1 && position < gap.to) decision.stays = std::vector<OpRange>{{position, gap.to}};
}

// Blocks that were made one after the other, a layer or so, are kept, moved or computed again together.
void LocalSearch::treat_alike(Plan& plan) {
  const std::size_t first = below(choices_.size());
  const std::size_t last = std::min(first + 2 + below(7), choices_.size());
  const double dice = uniform();
  for (std::size_t c = first; c < last; ++c) {
    const Choice& choice = choices_[c];
    Decision& decision = plan[choice.gap];
    if (dice < 0.5 && choice.can_recompute)
      decision = untimed(Action::recompute);
    else if (dice < 0.75 && choice.can_swap)
      decision = untimed(Action::swap);
    else if (dice >= 0.75)
      decision = Decision{};
  }
}

// By the room that the last plan evaluated leaves at each op; dearest first, roughly.
bool LocalSearch::restore_what_fits(Plan& plan) {
  list_absent(plan);
  const auto ops = static_cast<std::size_t>(problem_.program.op_count());
  need_ = evaluate_.lowered().need;
  const auto tightest = static_cast<OpIndex>(std::max_element(need_.begin(), need_.end()) - need_.begin());
  std::vector<std::pair<double, std::size_t>> order;
  for (const std::size_t c : absent_) {
    const Choice& choice = choices_[c];
    const Nanoseconds price = plan[choice.gap].action == Action::recompute ? choice.remake : choice.copies;
    order.emplace_back(-static_cast<double>(price + 1) * uniform(), c);
  }
  std::sort(order.begin(), order.end());
  bool restored = false;
  for (const auto& [price, c] : order) {
    const Choice& choice = choices_[c];
    const Bytes most = problem_.limit - choice.bytes;
    if (choice.covers(tightest, problem_.program.op_count()) &&
        need_[static_cast<std::size_t>(tightest)] > most)
      continue;
    auto at = [&](OpIndex u) -> Bytes& { return need_[static_cast<std::size_t>(u) % ops]; };
    bool fits = true;
    for (OpIndex u = choice.first; fits && u <= choice.last; ++u) fits = at(u) <= most;
    if (!fits) continue;
    for (OpIndex u = choice.first; u <= choice.last; ++u) at(u) += choice.bytes;
    plan[choice.gap] = Decision{};
    restored = true;
  }
  return restored;
}

void LocalSearch::disturb(Plan& plan) {
  for (const std::size_t c : banned_list_) banned_[c] = 0;
  banned_list_.clear();
  list_absent(plan);
  if (absent_.empty()) return;
  const double dice = uniform();
  if (uniform() < (finishes_ ? kExchangingLast : kExchanging)) {
    exchange(plan);
  } else if (!stalled_.empty() && uniform() < kEarlier) {
    make_earlier(plan);
  } else if (dice < 0.25) {
    flip_one(plan);
  } else if (dice < 0.35) {
    treat_alike(plan);
  } else if (dice < 0.75) {
    const std::size_t count = 1 + (uniform() < 0.4 ? below(3) : 0);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t c = draw_absent();
      plan[choices_[c].gap] = Decision{};
      ban(c);
    }
  } else if (dice < 0.9) {
    forget_around(plan);
  } else if (dice < 0.95 && !outliving_.empty()) {
    keep_the_dead(plan);
  } else {
    const Choice& choice = choices_[below(choices_.size())];
    Decision& decision = plan[choice.gap];
    if (decision.action == Action::keep)
      decision = untimed(draw_moving(choice) ? Action::swap : Action::recompute);
  }
}

namespace {

// How much of a budget is spent, 0 … 1, of evaluations or of seconds.
class Spending {
 public:
  explicit Spending(const SearchBudget& budget) : budget_(budget) {}

  double share(std::int64_t evaluations) {
    of_evaluations_ = budget_.evaluations > 0
                          ? static_cast<double>(evaluations) / static_cast<double>(budget_.evaluations)
                          : 1;
    if (budget_.seconds > 0 && asked_++ % kLooksAtTheClock == 0) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
      of_seconds_ = elapsed.count() / budget_.seconds;
    }
    return std::min(1.0, std::max(of_evaluations_, of_seconds_));
  }
  double of_evaluations() const { return std::min(1.0, of_evaluations_); }

 private:
  static constexpr std::int64_t kLooksAtTheClock = 8;

  const SearchBudget& budget_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::int64_t asked_ = 0;
  double of_evaluations_ = 0;
  double of_seconds_ = 0;
};

}  // namespace

Incumbent LocalSearch::improve(Incumbent start, double link_price, const SearchBudget& budget) {
  finishes_ = budget.finishes;
  Incumbent best = start;
  Incumbent current = std::move(start);
  Incumbent next, fuller;  // here for the sake of their memory
  const std::int64_t first = evaluate_.count();
  const std::int64_t first_steps = evaluate_.op_steps();
  const std::int64_t steps_each = 2 * std::max<std::int64_t>(problem_.program.op_count(), 1);
  Spending spending(budget);
  Thermostat thermostat(kFirstTemperature * static_cast<double>(current.step.plain_time));
  std::int64_t next_look = 0;
  for (std::int64_t move = 0;; ++move) {
    const std::int64_t spent =
        std::max(evaluate_.count() - first, (evaluate_.op_steps() - first_steps) / steps_each);
    const double share = spending.share(spent);
    spent_ = spending.of_evaluations();
    if (share >= 1) break;
    if (move % 16 == 0 && budget.stop && budget.stop()) break;
    if (move % 256 == 0 && budget.round) budget.round(spent, best);
    const double left = finishes_ ? 0 : 1 - share;
    if (left < kSettled && move >= next_look) {
      find_stalls(current.plan);
      next_look = move + 256;
    }
    next.plan = current.plan;
    disturb(next.plan);
    const Prices prices{.link = link_price * std::exp(0.5 * std::normal_distribution<double>()(random_)),
                        .noise = 0.6};
    next.step = repair_(next.plan, evaluate_, prices, random_, banned_);
    if (!next.feasible()) continue;
    if (uniform() < kRestoring) {
      fuller.plan = next.plan;
      const bool trimmed = trim_outliving(problem_, outliving_, evaluate_.lowered(), fuller.plan);
      if (restore_what_fits(fuller.plan) || trimmed) {
        fuller.step = repair_(fuller.plan, evaluate_, prices, random_, banned_);
        if (fuller.beats(next)) std::swap(fuller, next);
      }
    }
    const auto worse = static_cast<double>(next.step.step_time - current.step.step_time);
    if (worse > 0 && !thermostat.accepts(worse, left, uniform())) continue;
    std::swap(current, next);
    if (current.beats(best)) best = current;
  }
  return best;
}

}  // namespace ebb
