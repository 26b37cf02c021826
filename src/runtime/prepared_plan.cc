#include "runtime/prepared_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "layout/fit_plan.h"
#include "runtime/arena.h"

namespace ebb {
namespace {

constexpr Bytes kPoolShare = 64;  // one part in this many stays free for what no plan knows, if it can
constexpr double kLess = 0.25;    // of the first search's time is that of one for less
constexpr double kMoment = 1e-3;  // the shortest deadline of a search: it begins, and ends with what it has

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Preparer {
 public:
  Preparer(const Program& program, const Machine& machine, const PreparationOptions& options)
      : program_(program),
        machine_(machine),
        options_(options),
        gaps_(program),
        now_(options.seconds_now ? options.seconds_now : steady_seconds),
        start_(now_()) {}

  Preparation prepare() {
    Preparation found = choose();
    found.cut_short = cut_short_;
    return found;
  }

 private:
  Preparation choose() {
    if (options_.plan) return with("given", options_.plan);
    if (Preparation found = with("keep", find_planner("keep").plan); found.plan) return found;
    made_.clear();
    const std::string name = options_.planner.empty() ? default_planner() : options_.planner;
    return with(name, find_planner(name).plan);
  }

  Preparation with(const std::string& name, const PlanFunction& plan) {
    const std::array pools{options_.capacity / kPoolShare, Bytes{0}};
    for (std::size_t i = 0; i < pools.size(); ++i) {
      const double left = std::max(options_.time.most - elapsed(), kMoment);
      const std::size_t pools_left = pools.size() - i;
      layout::FittedPlan fitted =
          fit(plan, pools[i], left / static_cast<double>(pools_left), pools_left == 1);
      if (!fitted.fits) continue;
      cut_short_ = cut_short_ || made_.size() > 1;  // packed with more effort, the first may fit
      return ready(name, std::move(fitted), elapsed());
    }
    cut_short_ = cut_short_ || !made_.empty();
    if (refusal_.empty())
      refusal_ = fmt::format("{}: packed, no plan keeps {} bytes", name, options_.capacity);
    return {.refusal = refusal_};
  }

  // What the plan leaves free lies above the footprint.
  layout::FittedPlan fit(const PlanFunction& plan, Bytes pool, double seconds, bool at_any_rate) {
    const double end = elapsed() + seconds;
    refusal_.clear();
    const std::optional<Plan> first = make(plan, options_.capacity - pool);
    if (!first) return {};
    layout::FittedPlan fitted = layout::fit_plan({program_, gaps_, machine_, options_.capacity}, *first,
                                                 {.alignment = Arena::kAlignment,
                                                  .reserve = pool,
                                                  .budget = options_.packing_steps,
                                                  .deadline_seconds = std::max(end - elapsed(), kMoment),
                                                  .make_plan = [&](Bytes limit) { return make(plan, limit); },
                                                  .at_any_rate = at_any_rate,
                                                  .seconds_now = now_});
    refusal_.clear();  // those of plans for less say nothing of this limit

    if (fitted.fits && fitted.schedule.commands.empty()) fitted.fits = false;  // no steady order to follow
    return fitted;
  }

  std::optional<Plan> make(const PlanFunction& plan, Bytes limit) {
    PlannerOptions planning = options_.planning;
    planning.deadline_seconds = search_seconds();
    planning.start = nearest(limit);
    const double start = elapsed();
    PlanningResult result = plan({program_, gaps_, machine_, limit}, planning);
    cut_short_ = cut_short_ || result.cut_short ||
                 (planning.deadline_seconds > 0 && elapsed() - start >= planning.deadline_seconds);
    if (!result.infeasible) {
      made_[limit] = result.plan;
      return std::move(result.plan);
    }
    refusal_ = result.infeasible->sentence(program_);
    return std::nullopt;
  }

  // To begin a search with: made for the least limit that is not below this one, or else for the largest.
  std::optional<Plan> nearest(Bytes limit) const {
    if (made_.empty()) return options_.planning.start;
    const auto more = made_.lower_bound(limit);
    return more == made_.end() ? std::prev(more)->second : more->second;
  }

  // Half of what is left stays for packing and for plans for less.
  double search_seconds() const {
    const double whole = !made_.empty() ? kLess * options_.time.search : options_.time.search;
    if (options_.time.enough <= 0) return whole;
    const double left = std::max((options_.time.enough - elapsed()) / 2, kMoment);
    return whole > 0 ? std::min(whole, left) : left;
  }

  double elapsed() const { return now_() - start_; }

  Preparation ready(const std::string& name, layout::FittedPlan fitted, double seconds) const {
    auto plan = std::make_shared<PreparedPlan>(program_);
    plan->planner = name;
    plan->lowered = std::move(fitted.lowered);
    plan->schedule = std::move(fitted.schedule);
    plan->arena = std::move(fitted.arena);
    plan->layout = std::move(fitted.layout);
    plan->lie_above(options_.ground, program_, options_.capacity);
    plan->step = fitted.step;
    plan->predicted_step = fitted.step_time;
    plan->timeline = std::move(fitted.timeline);
    plan->planning_seconds = seconds;
    return {.plan = std::move(plan)};
  }

  const Program& program_;
  const Machine& machine_;
  const PreparationOptions& options_;
  Gaps gaps_;
  std::function<double()> now_;
  double start_;
  std::map<Bytes, Plan> made_;  // with the planner that is asked, by the limits they were made for
  std::string refusal_;
  bool cut_short_ = false;
};

}  // namespace

void PreparedPlan::lie_above(Bytes at, const Program& program, Bytes capacity) {
  ground = at;
  const Bytes lowest = layout.footprint <= capacity - ground ? ground : 0;
  offsets = layout::planned_offsets(program, gaps, lowered, arena, layout, lowest);
}

std::string default_planner() {
  // The best there is comes first.
  for (const std::string_view name : {"ebb", "ondemand"})
    for (const Planner& planner : planners())
      if (planner.name == name) return std::string(name);
  return "keep";
}

Preparation prepare_plan(const Program& program, const Machine& machine, const PreparationOptions& options) {
  return Preparer(program, machine, options).prepare();
}

}  // namespace ebb
