#include "layout/fit_plan.h"

#include <algorithm>
#include <chrono>

#include "layout/address_waits.h"
#include "layout/by_position.h"
#include "layout/validate.h"
#include "plan/lower.h"
#include "plan/validate.h"

namespace ebb::layout {
namespace {

constexpr std::int64_t kQuickLook = 2'000;    // steps for what would be lucky to fit
constexpr std::int64_t kPersistence = 8;      // times the budget where packing is all that can be done,
constexpr std::int64_t kInsistence = 64;      // times the budget where there is some room to pack with,
constexpr int kMostInsists = 4;               // not too often,
constexpr std::int64_t kInAll = 600'000'000;  // no more than so many steps times buffers,
constexpr std::int64_t kPerBuffer = 400;      // and so many steps a buffer
constexpr Nanoseconds kTolerance = 200;       // a 200th slower than planned is as good
constexpr int kMostPlans = 40;
constexpr double kAttempt = 0.25;         // of the time that is left is the most an attempt to pack takes
constexpr double kPatient = 0.75;         // while more of it is left, plans are made again for a little less
constexpr std::int64_t kLastEffort = 25;  // times the budget where all else failed
constexpr int kMostPackedPlans = 10;      // plans made again for less to be packed as they are scheduled
constexpr Bytes kLeastCut = 200;          // a 200th of the limit is taken off at least,
constexpr Bytes kMostCut = 100;           // and a 100th at most, unless a plan is too large
constexpr Bytes kMuch = 12;               // by a twelfth of it;
constexpr Bytes kMostOff = 4;             // no more than a quarter in all before copies are retimed
constexpr Bytes kFirstBigCut = 64;        // at any rate a 64th is taken off, then twice as much each time,
constexpr Bytes kLastBigCut = 2;          // up to a half

// A timed plan and what the simulator makes of it.
struct Run {
  LoweredPlan lowered;
  StepResult step;
  Timeline timeline;
  Schedule schedule;
};

class Fitter {
 public:
  Fitter(const FitProblem& problem, const FitOptions& options)
      : problem_(problem),
        options_(options),
        capacity_(problem.limit - problem.program.info().unmanaged - options.reserve),
        lowerer_(problem.program, problem.gaps),
        simulator_(problem.program, problem.gaps, problem.machine) {
    if (options.deadline_seconds > 0) deadline_ = now() + options.deadline_seconds;
  }

  FittedPlan run(const Plan& plan) {
    if (capacity_ < 0) return std::move(result_);
    if (options_.effort != Effort::last) {
      pack_plans(plan);
      if (!result_.fits) retime_plans(plan);
    }
    if (options_.effort != Effort::usual && !result_.fits && !is_late()) {
      effort_ = kLastEffort;
      planned_for_ = problem_.limit - options_.reserve;
      retime(plan, planned_for_);
    }
    if (options_.at_any_rate && options_.make_plan && !result_.fits) pack_plans_for_much_less();
    return std::move(result_);
  }

 private:
  // Plans for less and less, packed as they are scheduled. The first that fits is the fastest, as plans for
  // less are slower.
  void pack_plans(Plan plan) {
    Bytes limit = problem_.limit - options_.reserve;
    Bytes before = problem_.limit;
    for (int plans = 0; plans < kMostPackedPlans; ++plans) {
      planned_for_ = limit;
      const bool is_known = plans == 0 && options_.excess > 0;
      const Bytes excess = is_known ? options_.excess : pack_as_scheduled(plan, limit);
      if (plans == 0) result_.excess = excess;
      if (excess == 0 || !options_.make_plan || is_late()) return;
      limit -= cut_for(excess, before);
      before = excess;
      if (limit < problem_.limit - problem_.limit / kMostOff) return;
      std::optional<Plan> next = options_.make_plan(limit);
      if (!next) return;
      plan = std::move(*next);
    }
  }

  // A little room makes packing much easier, so that a little less is mostly enough however large the plan
  // was. Where it was much too large, half of that; and all of it where the plan before was no larger, or
  // where there is no time for many plans.
  Bytes cut_for(Bytes excess, Bytes before) const {
    const Bytes least = problem_.limit / kLeastCut + 1;
    if (excess >= before || is_hurried()) return std::max(excess, least);
    if (excess > problem_.limit / kMuch) return excess / 2;
    return std::clamp(excess, least, problem_.limit / kMostCut + 1);
  }

  // A slow plan is better than none: here the time does not end. With much room anything packs, at once.
  void pack_plans_for_much_less() {
    effort_ = 1;
    time_counts_ = false;
    const Bytes limit = problem_.limit - options_.reserve;
    for (Bytes cut = kFirstBigCut; cut >= kLastBigCut; cut /= 2) {
      const Bytes off = limit / cut;
      planned_for_ = limit - off;
      const std::optional<Plan> plan = options_.make_plan(planned_for_);
      if (!plan || pack_as_scheduled(*plan, planned_for_) == 0 || retime(*plan, planned_for_)) return;
    }
  }

  Bytes pack_as_scheduled(const Plan& plan, Bytes limit) {
    std::optional<Run> given = simulate(plan, limit);
    return given ? pack_schedule(*given) : 1;
  }

  void retime_plans(Plan plan) {
    Bytes limit = problem_.limit - options_.reserve;
    for (int plans = 0; plans < kMostPlans; ++plans) {
      planned_for_ = limit;
      if (retime(plan, limit)) return;
      if (!options_.make_plan || is_late()) break;
      limit -= problem_.limit / kLeastCut + 1;
      std::optional<Plan> next = options_.make_plan(limit);
      if (!next) break;
      plan = std::move(*next);
    }
  }

  bool retime(const Plan& plan, Bytes limit) {
    const std::optional<Run> given = simulate(plan, limit);
    if (!given || given->lowered.swaps.empty()) return false;
    fast_enough_ = given->step.step_time + given->step.step_time / kTolerance;
    if (pack_by_position(given->lowered, Retiming::by_address)) return true;
    Plan retimed = given->lowered.plan;
    leave_at_once(retimed);
    const std::optional<Run> early = simulate(retimed, limit);
    if (!early) return result_.fits;
    for (const Retiming retiming : {Retiming::out_at_once, Retiming::half_as_early, Retiming::when_needed}) {
      if (is_late()) break;
      Plan later = early->lowered.plan;
      return_later(*early, retiming, later);
      LoweredPlan lowered;
      if (lowerer_.lower(later, limit, lowered)) continue;
      if (pack_by_position(lowered, retiming)) return true;
    }
    return result_.fits;
  }

  std::optional<Run> simulate(const Plan& plan, Bytes limit) {
    Run run;
    if (lowerer_.lower(plan, limit, run.lowered)) return std::nullopt;
    run.step = simulator_.run(run.lowered, limit, run.timeline, run.schedule);
    if (run.step.infeasible) return std::nullopt;
    return run;
  }

  Layout pack_within(const Problem& problem, std::int64_t budget) {
    ++result_.attempts;
    Layout layout = pack(problem, {.alignment = options_.alignment,
                                   .capacity = capacity_,
                                   .budget = budget,
                                   .deadline_seconds = attempt_seconds()});
    if (!result_.fits) result_.load = layout.load + problem_.program.info().unmanaged;
    return layout;
  }

  // The bytes by which the smallest layout found is too large; 0: accepted.
  Bytes pack_schedule(Run& run) {
    if (run.schedule.commands.empty()) return 1;
    ArenaProblem arena = arena_problem(problem_.program, problem_.gaps, run.lowered, run.schedule);
    if (arena.meets_itself) return 1;
    Layout layout = pack_within(arena.problem, kQuickLook);
    const auto buffers = std::max<std::int64_t>(std::ssize(arena.problem.buffers), 1);
    const std::int64_t most = kPerBuffer * buffers;
    const std::int64_t persistence = std::min(kPersistence * options_.budget, most);
    const std::int64_t insistence = std::min({kInsistence * options_.budget, most, kInAll / buffers});
    if (!layout.fits) {
      ++result_.attempts;
      layout = pack(
          arena.problem,
          {.alignment = options_.alignment, .budget = persistence, .deadline_seconds = attempt_seconds()});
    }
    const bool has_room = layout.load <= capacity_ - capacity_ / kLeastCut;
    const bool may_insist = insistence > persistence && insisted_ < kMostInsists && !is_hurried();
    if (layout.footprint > capacity_ && has_room && may_insist) {
      ++insisted_;
      Layout within = pack_within(arena.problem, insistence);
      if (within.fits) layout = std::move(within);
    }
    if (layout.footprint > capacity_) return layout.footprint - capacity_;
    return accept(std::move(run), std::move(arena), std::move(layout), Retiming::none) ? 0 : 1;
  }

  bool pack_by_position(const LoweredPlan& lowered, Retiming retiming) {
    const Program& program = problem_.program;
    const PositionSchedule first = schedule_by_position(program, problem_.gaps, lowered);
    const ArenaProblem first_arena = arena_problem(program, problem_.gaps, lowered, first.schedule);
    const Layout packed = pack_within(
        first_arena.problem, effort_ * (retiming == Retiming::by_address ? kQuickLook : options_.budget));
    if (!packed.fits) return false;
    Plan plan = lowered.plan;
    return_early(program, problem_.gaps, lowered, first, first_arena, packed, plan);
    Run run;
    if (lowerer_.lower(plan, problem_.limit, run.lowered)) return false;
    const PositionSchedule second = schedule_by_position(program, problem_.gaps, run.lowered);
    const ArenaProblem arena = arena_problem(program, problem_.gaps, run.lowered, second.schedule);
    const std::optional<Layout> layout = transfer(first_arena, packed, arena, options_.alignment);
    if (!layout) return false;
    const AddressGates gates =
        address_gates(program, problem_.gaps, run.lowered, second.schedule, arena, *layout);
    run.step = simulator_.run(run.lowered, problem_.limit, gates, run.timeline, run.schedule);
    if (run.step.infeasible || run.schedule.commands.empty()) return false;
    ArenaProblem timed = arena_problem(program, problem_.gaps, run.lowered, run.schedule);
    std::optional<Layout> timed_layout = transfer(arena, *layout, timed, options_.alignment);
    return timed_layout && accept(std::move(run), std::move(timed), std::move(*timed_layout), retiming);
  }

  // The last word is that of the two validators, which know nothing of how this was made. Keeps the fastest;
  // true if it is fast enough.
  bool accept(Run run, ArenaProblem arena, Layout layout, Retiming retiming) {
    const PackOptions limits{.alignment = options_.alignment, .capacity = capacity_};
    if (arena.meets_itself || !validate(arena.problem, layout, limits).empty()) return false;
    if (!ebb::validate(problem_.program, problem_.gaps, run.lowered, run.schedule, problem_.limit).empty())
      return false;
    AddressWaits waits = address_waits(arena, layout);
    const Nanoseconds time = replay(problem_.program, problem_.gaps, problem_.machine, run.lowered,
                                    run.schedule, {.waits = &waits});
    if (result_.fits && result_.step_time <= time) return false;
    const Bytes unmanaged = problem_.program.info().unmanaged;
    result_.fits = true;
    result_.retiming = retiming;
    result_.planned_for = planned_for_;
    result_.footprint = layout.footprint + unmanaged;
    result_.load = layout.load + unmanaged;
    result_.waits = std::move(waits);
    result_.step_time = time;
    result_.lowered = std::move(run.lowered);
    result_.step = std::move(run.step);
    result_.timeline = std::move(run.timeline);
    result_.schedule = std::move(run.schedule);
    result_.arena = std::move(arena);
    result_.layout = std::move(layout);
    return retiming == Retiming::none || time <= fast_enough_;
  }

  static void leave_at_once(Plan& plan) {
    for (Decision& decision : plan.decisions) {
      if (decision.action != Action::swap) continue;
      decision.out_after = decision.out_order = decision.in_order = decision.in_from = decision.in_by = kAuto;
    }
  }

  // Copy-ins may start where the simulation let them start, half as early, or when they are needed.
  void return_later(const Run& run, Retiming retiming, Plan& plan) const {
    const OpIndex n = problem_.program.op_count();
    std::vector<OpIndex> position;  // by item
    std::size_t step = 0;
    for (OpIndex j = 0; j < n; ++j) {
      for (; step < run.lowered.replays.size() && run.lowered.replays[step].before == j; ++step)
        position.push_back(j);
      position.push_back(j);
    }
    std::vector<OpIndex> started(plan.decisions.size(), kAuto);
    for (const Command& command : run.schedule.commands)
      if (command.kind == CommandKind::start_in)
        started[static_cast<std::size_t>(command.gap)] =
            command.ended < static_cast<std::int32_t>(position.size())
                ? position[static_cast<std::size_t>(command.ended)]
                : n - 1;
    for (const std::int32_t i : run.lowered.ins) {
      const Swap& swap = run.lowered.swaps[static_cast<std::size_t>(i)];
      OpIndex from = started[static_cast<std::size_t>(swap.gap)];
      if (from == kAuto) from = swap.in_from;
      if (from < swap.in_from) from += n;
      from = std::clamp(from, swap.in_from, swap.needed_at);
      if (retiming == Retiming::half_as_early) from += (swap.needed_at - from + 1) / 2;
      if (retiming == Retiming::when_needed) from = swap.needed_at;
      plan[swap.gap].in_from = from;
    }
  }

  // Packing a large step may take longer than all the time there is.
  std::optional<double> attempt_seconds() const {
    if (!deadline_) return std::nullopt;
    return std::max(0.0, kAttempt * (time_counts_ ? seconds_left() : options_.deadline_seconds));
  }

  double now() const {
    if (options_.seconds_now) return options_.seconds_now();
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  double seconds_left() const { return *deadline_ - now(); }

  bool is_late() const { return deadline_ && time_counts_ && seconds_left() <= 0; }

  // The rest of the time is for plans that are sure to fit.
  bool is_hurried() const { return deadline_ && seconds_left() < kPatient * options_.deadline_seconds; }

  const FitProblem& problem_;
  const FitOptions& options_;
  const Bytes capacity_;
  Lowerer lowerer_;
  Simulator simulator_;
  std::optional<double> deadline_;  // by the clock
  Bytes planned_for_ = 0;
  std::int64_t effort_ = 1;
  bool time_counts_ = true;
  int insisted_ = 0;
  Nanoseconds fast_enough_ = 0;  // a retimed plan that takes no longer ends the search
  FittedPlan result_;
};

}  // namespace

FittedPlan fit_plan(const FitProblem& problem, const Plan& plan, const FitOptions& options) {
  return Fitter(problem, options).run(plan);
}

}  // namespace ebb::layout
