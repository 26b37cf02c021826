#include <algorithm>
#include <queue>

#include "plan/host_copies.h"
#include "planners/evaluator.h"
#include "planners/swap/link_book.h"
#include "planners/swap/plain_clock.h"
#include "planners/swap/swap.h"

namespace ebb {
namespace {

class ExcessAreaRule {
 public:
  explicit ExcessAreaRule(const PlanningProblem& problem)
      : problem_(problem),
        n_(problem.program.op_count()),
        host_(problem.program, problem.gaps),
        clock_(problem.program, problem.machine),
        out_(clock_.step()),
        in_(clock_.step()),
        plan_(Plan::keep_all(problem.gaps)) {
    for (OpIndex j = 0; j < n_; ++j) need_.push_back(problem.program.demand(j));
  }

  Plan run() {
    choose_what_the_links_carry();
    choose_what_must_go();
    return std::move(plan_);
  }

 private:
  // Where on the links a gap's copies would go, and the ops that run while its block is away.
  struct Slot {
    Nanoseconds out = 0;
    Nanoseconds in = 0;
    OpRange away;
    double area = 0;
  };

  LinkBook& in_link() { return problem_.machine.exclusive ? out_ : in_; }
  const LinkBook& in_link() const { return problem_.machine.exclusive ? out_ : in_; }
  Bytes bytes_of(GapId g) const { return problem_.program.block(problem_.gaps[g].block).bytes; }
  Nanoseconds out_time(GapId g) const {
    return host_.last_write(g) == HostCopies::kNeverWritten ? 0 : problem_.machine.copy_out_time(bytes_of(g));
  }
  Nanoseconds in_time(GapId g) const {
    return problem_.gaps[g].kind == GapKind::trailing ? 0 : problem_.machine.copy_in_time(bytes_of(g));
  }

  // Bytes x time above the limit that go if the block is away at these ops.
  double area(GapId g, OpRange away) const {
    double sum = 0;
    for (OpIndex j = away.begin; j < away.end; ++j)
      sum += static_cast<double>(std::min(bytes_of(g), excess_[static_cast<std::size_t>(j % n_)])) *
             static_cast<double>(clock_.end(j) - clock_.start(j));
    return sum;
  }

  // Out as early and in as late as the links allow.
  std::optional<Slot> find_slot(GapId g) const {
    const Gap& gap = problem_.gaps[g];
    const Nanoseconds begin = clock_.end(gap.from), end = begin + clock_.idle(gap);
    const auto out = out_.first_free(begin, end, out_time(g));
    if (!out) return std::nullopt;
    const auto in = in_link().last_free(*out + out_time(g), end, in_time(g));
    if (!in) return std::nullopt;
    OpRange away{gap.from + 1, gap.to};
    while (away.begin < away.end && clock_.start(away.begin) < *out + out_time(g)) ++away.begin;
    while (away.begin < away.end && clock_.end(away.end - 1) > *in) --away.end;
    return Slot{*out, *in, away, area(g, away)};
  }

  Slot whole_gap(GapId g) const {
    const OpRange away{problem_.gaps[g].from + 1, problem_.gaps[g].to};
    return {0, 0, away, area(g, away)};
  }

  void count_excess() {
    excess_.clear();
    for (const Bytes need : need_) excess_.push_back(std::max<Bytes>(0, need - problem_.limit));
  }

  void choose(GapId g, const Slot& slot) {
    const Gap& gap = problem_.gaps[g];
    plan_[g].action = Action::swap;
    plan_[g].out_after = gap.from;
    for (OpIndex j = gap.from + 1; j < gap.to; ++j) need_[static_cast<std::size_t>(j % n_)] -= bytes_of(g);
    for (OpIndex j = slot.away.begin; j < slot.away.end; ++j) {
      Bytes& excess = excess_[static_cast<std::size_t>(j % n_)];
      excess = std::max<Bytes>(0, excess - bytes_of(g));
    }
  }

  // The gap that takes most off the excess, then the next. A gap's area only shrinks as others are chosen and
  // links fill up: the first that is still as large as it was when it was last looked at is the largest.
  void choose_largest(auto find_slot, auto when_chosen) {
    std::priority_queue<std::pair<double, GapId>> largest;
    for (GapId g = 0; g < problem_.gaps.count(); ++g)
      if (plan_[g].action == Action::keep)
        if (const double most = whole_gap(g).area; most > 0) largest.push({most, -g});
    while (!largest.empty()) {
      const auto [seen, minus_g] = largest.top();
      largest.pop();
      const GapId g = -minus_g;
      const std::optional<Slot> slot = find_slot(g);
      if (!slot || slot->area <= 0) continue;
      if (slot->area < seen) {
        largest.push({slot->area, -g});
        continue;
      }
      choose(g, *slot);
      when_chosen(g, *slot);
    }
  }

  void choose_what_the_links_carry() {
    count_excess();
    choose_largest([&](GapId g) { return find_slot(g); },
                   [&](GapId g, const Slot& slot) {
                     out_.promise(slot.out, out_time(g));
                     in_link().promise(slot.in, in_time(g));
                   });
  }

  // Links that are full do not make room: what is still too much leaves too, and compute waits for it.
  void choose_what_must_go() {
    count_excess();
    choose_largest([&](GapId g) { return std::optional(whole_gap(g)); }, [](GapId, const Slot&) {});
    // An op that takes no time has no area; its memory counts all the same.
    for (GapId g = 0; g < problem_.gaps.count(); ++g) {
      const OpRange away = whole_gap(g).away;
      bool helps = false;
      for (OpIndex j = away.begin; j < away.end; ++j)
        helps = helps || need_[static_cast<std::size_t>(j % n_)] > problem_.limit;
      if (helps && plan_[g].action == Action::keep) choose(g, {});
    }
  }

  const PlanningProblem& problem_;
  const OpIndex n_;
  HostCopies host_;
  PlainClock clock_;
  LinkBook out_, in_;
  Plan plan_;
  std::vector<Bytes> need_;    // by op, chosen blocks gone during their whole gap
  std::vector<Bytes> excess_;  // by op, above the limit, chosen blocks gone while the links allow it
};

}  // namespace

PlanningResult plan_excess_area(const PlanningProblem& problem, const PlannerOptions& options) {
  PlanningResult result{.plan = options.allow_swap ? ExcessAreaRule(problem).run()
                                                   : Plan::keep_all(problem.gaps)};
  Evaluator evaluate(problem);
  result.infeasible = evaluate(result.plan).infeasible;
  result.evaluations = evaluate.count();
  return result;
}

}  // namespace ebb
