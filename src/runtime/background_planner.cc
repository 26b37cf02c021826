#include "runtime/background_planner.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/arena.h"
#include "runtime/shared_plan.h"
#include "simulate/host_lane.h"
#include "trace/fingerprint.h"

namespace ebb {
namespace {

constexpr double kFit = 15;                  // seconds to pack what a search found, and for searches for less
constexpr double kGoOn = 6;                  // beyond that, or the first plan's time, as long as nothing fits
constexpr std::int64_t kQuickSteps = 2'000;  // of an attempt to pack, while the program waits for a plan
constexpr int kNice = 10;                    // more, for a search while a plan is followed
constexpr double kUsualOps = 3'000;          // a longer step that has a plan may be as much longer in search
constexpr double kOwnTime = 0.5;             // of a search's, that it computed: else it is none to the end

struct Stopped {};

// Where processors are few, a search that competes with the program for them makes steps several times as
// long. On Linux this is the thread's own priority.
void let_the_program_go_first() {
  const auto thread = static_cast<id_t>(gettid());
  static_cast<void>(setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + kNice));
}

// Did the thread have a processor most of the time since this was made?
class OwnTime {
 public:
  bool is_most() const { return cpu() - cpu_ >= kOwnTime * (wall() - wall_); }

 private:
  static double seconds_of(clockid_t clock) {
    timespec time = {};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  static double cpu() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
  static double wall() { return seconds_of(CLOCK_MONOTONIC); }

  double cpu_ = cpu();
  double wall_ = wall();
};

// Of a search that began with the time: had it its course, or as much as its time is good for?
bool is_to_the_end(const Preparation& found, const OwnTime& time) {
  return !found.cut_short || time.is_most();
}

// Would it be made for that step again?
bool holds_for(const KeptPlan& kept, const TimedStep& step) {
  return kept.searched && still_holds(*kept.plan, kept.step.program, step);
}

// What a plan is of; whether it holds here is found out by trying.
std::string name_of(const PlanningNews& news, const BackgroundOptions& options) {
  return fmt::format("{}-{}-{}-{}-{}", fingerprint_text(news.fingerprint), options.capacity,
                     news.iteration->program.info().smallest_managed, options.planner,
                     options.allow_recompute);
}

// What has to be the same for two to follow one plan together.
std::string key_of(const PlanningNews& news, const BackgroundOptions& options, Bytes ground) {
  return fmt::format("{}-{}-{}", name_of(news, options), ground, news.iteration->program.info().unmanaged);
}

bool has_links_like(const Machine& machine, const Machine& other) {
  return are_alike(machine.bandwidth_out, other.bandwidth_out) &&
         are_alike(machine.bandwidth_in, other.bandwidth_in);
}

// Changing plans moves blocks once.
bool is_worth_it(Nanoseconds better, Nanoseconds first) { return better < first - first / 500; }

// Blocks that are so small that all of them together take no more than a hundredth of the arena stay: a copy
// costs the host the same whatever its size. Of two blocks of one size both stay or none.
Bytes smallest_worth_moving(const Program& program, const BackgroundOptions& options) {
  std::vector<Bytes> sizes;
  for (const Block& block : program.blocks()) sizes.push_back(block.bytes);
  std::sort(sizes.begin(), sizes.end());
  Bytes left = options.capacity / 100;
  for (const Bytes bytes : sizes) {
    left -= Arena::rounded(bytes);
    if (left < 0) return std::max(options.smallest_managed, bytes);
  }
  return options.smallest_managed;
}

// The program as plans are made for it.
ScriptedIteration to_be_planned(ScriptedIteration iteration, const BackgroundOptions& options) {
  ProgramInfo info = iteration.program.info();
  info.smallest_managed = smallest_worth_moving(iteration.program, options);
  std::vector<Op> ops = iteration.program.ops();
  if (options.host_is_ahead)
    for (Op& op : ops) op.issue = 0;
  Program program = Program::build(info, std::move(ops), iteration.program.blocks());
  return {std::move(program), std::move(iteration.script)};
}

// The plan as it is, with what it takes if ops take the program's times.
std::shared_ptr<const PreparedPlan> judged_again(const PreparedPlan& plan, const Program& program,
                                                 const Machine& machine, Bytes capacity) {
  auto again = std::make_shared<PreparedPlan>(plan);
  Timeline timeline;
  Schedule by_load;
  const StepResult step =
      Simulator(program, plan.gaps, machine).run(plan.lowered, capacity, timeline, by_load);
  if (!step.infeasible) {
    again->step = step;
    again->timeline = std::move(timeline);
  } else {  // by load it may be stuck where by address it is not
    again->step.plain_time = plain_step(program, machine);
  }
  again->predicted_step = step_of(plan, program, machine);
  return again;
}

}  // namespace

void BackgroundPlanner::close() {
  closed_ = true;
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void BackgroundPlanner::start(Trace trace, const Machine& machine, Bytes ground) {
  if (closed_) return;
  ground_ = ground;
  news_ = {};
  done_ = improving_ = enough_ = false;
  thread_ = std::thread([this, trace = std::move(trace), machine] { work(trace, machine); });
}

void BackgroundPlanner::start_again(FollowedPlan followed, const Machine& machine, Bytes ground) {
  if (closed_) return;
  ground_ = ground;
  news_ = {};
  done_ = enough_ = false;
  improving_ = true;
  thread_ = std::thread([this, followed = std::move(followed), machine] { work_again(followed, machine); });
}

bool BackgroundPlanner::poll(PlanningNews& news) {
  if (!has_news()) return false;
  {
    const std::lock_guard lock(mutex_);
    news = news_;
    has_news_ = false;
  }
  if (news.done && thread_.joinable()) thread_.join();
  return true;
}

void BackgroundPlanner::publish(const PlanningNews& news) {
  const std::lock_guard lock(mutex_);
  const bool untold = has_news_ && news_.found;
  news_ = news;
  news_.found = news.found || untold;
  has_news_.store(true, std::memory_order_release);
}

Preparation BackgroundPlanner::prepare_first(const Program& program, const Machine& machine,
                                             const PreparedPlan* start) {
  const double quick = std::min(options_.quick_seconds, options_.deadline_seconds);
  PreparationOptions options{.time = {.search = quick / 2, .enough = quick, .most = quick + kGoOn},
                             .packing_steps = kQuickSteps};
  if (start) options.planning.start = start->lowered.plan;
  return prepare(program, machine, std::move(options));
}

Preparation BackgroundPlanner::prepare_well(const Program& program, const Machine& machine,
                                            const PreparedPlan* start, bool is_followed) {
  const double longer = is_followed ? std::max(1.0, static_cast<double>(program.op_count()) / kUsualOps) : 1;
  const double search = longer * options_.deadline_seconds;
  const double enough = search + longer * kFit;
  PreparationOptions options{.time = {.search = search, .enough = enough, .most = enough + kGoOn}};
  if (start) options.planning.start = start->lowered.plan;
  return prepare(program, machine, std::move(options));
}

Preparation BackgroundPlanner::prepare(const Program& program, const Machine& machine,
                                       PreparationOptions options) {
  options.planner = options_.planner;
  options.plan = options_.plan;
  options.capacity = options_.capacity;
  options.ground = ground_;
  options.planning.allow_recompute = options_.allow_recompute;
  options.planning.settings = {{"footprint", 0}};  // packed here, with a reserve
  options.planning.progress = [this](const PlanningProgress&) {
    if (stop_ || (improving_ && enough_)) throw Stopped{};
  };
  return prepare_plan(program, machine, options);
}

void BackgroundPlanner::plan_for_all(PlanningNews& news, const Machine& machine) {
  PlanExchange& exchange = *options_.exchange;
  const Program& program = news.iteration->program;
  const TimedStep mine{program, machine};
  const ExchangeAnswer answer = exchange.ask(news.key, encode_times(mine), [this] { return stop_.load(); });
  if (stop_) throw Stopped{};
  if (!answer.plan_here) {
    std::optional<Preparation> taken = decode_preparation(answer.plan, program, options_.capacity, ground_);
    news.taken = taken.has_value();
    news.preparation = taken ? std::move(*taken) : prepare_well(program, machine, nullptr, false);
    return;
  }
  const TimedStep step = slowest_of(mine, answer.measured);
  try {
    const std::optional<KeptPlan> kept = find_kept(news, step.program);
    news.found = kept && holds_for(*kept, step);
    if (news.found) {
      news.preparation.plan = judged_again(*kept->plan, step.program, step.machine, options_.capacity);
    } else {
      const OwnTime time;
      news.preparation = prepare_well(step.program, step.machine, kept ? kept->plan.get() : nullptr, false);
      keep(news, step, is_to_the_end(news.preparation, time));
    }
  } catch (const std::exception& error) {
    news.preparation = {.refusal = error.what()};
  }
  exchange.give(news.key, encode_preparation(news.preparation, step, options_.capacity));
}

std::optional<KeptPlan> BackgroundPlanner::find_kept(const PlanningNews& news, const Program& program) const {
  if (!options_.kept) return std::nullopt;
  return options_.kept->find(name_of(news, options_), program, options_.capacity, ground_);
}

void BackgroundPlanner::keep(const PlanningNews& news, const TimedStep& step, bool searched) {
  if (!options_.kept || !news.preparation.plan) return;
  kept_ += options_.kept->keep(name_of(news, options_), {news.preparation.plan, step, searched},
                               options_.capacity);
}

// What was searched for is followed as it is where its times are looked at later, under it: those on demand
// may be others.
void BackgroundPlanner::plan_alone(PlanningNews& news, const Machine& machine) {
  const TimedStep step{news.iteration->program, machine};
  if (std::optional<KeptPlan> kept = find_kept(news, step.program)) {
    news.found = true;
    news.preparation.plan = kept->plan;
    if (options_.host_is_ahead ? kept->searched && has_links_like(machine, kept->step.machine)
                               : holds_for(*kept, step)) {
      news.iteration = std::make_shared<const ScriptedIteration>(
          ScriptedIteration{std::move(kept->step.program), news.iteration->script});
      return;
    }
    news.preparation.plan = judged_again(*kept->plan, step.program, machine, options_.capacity);
  } else {
    news.preparation = prepare_first(step.program, machine, nullptr);
    keep(news, step, !news.preparation.cut_short);
    if (!news.preparation.cut_short) return;
  }
  if (improve(news, machine)) keep(news, step, true);
}

bool BackgroundPlanner::improve(PlanningNews& news, const Machine& machine) {
  const std::shared_ptr<const PreparedPlan> first = news.preparation.plan;
  news.planned = first != nullptr;
  publish(news);
  improving_ = first != nullptr;
  if (first) let_the_program_go_first();
  const OwnTime time;
  bool searched = false;
  try {
    Preparation better =
        prepare_well(news.iteration->program, machine, first.get(), /*is_followed=*/first != nullptr);
    searched = is_to_the_end(better, time);
    if (!first || (better.plan && is_worth_it(better.plan->predicted_step, first->predicted_step))) {
      news.preparation = std::move(better);
      news.found = false;
    }
  } catch (const Stopped&) {
    if (!first) throw;
  }
  return searched;
}

void BackgroundPlanner::work(const Trace& trace, Machine machine) {
  PlanningNews news;
  try {
    const std::vector<BlockHistory> blocks = block_histories(trace, "the recorded run");
    const Detection detection = detect_iteration(trace, blocks, {});
    if (detection.status == DetectStatus::found) {
      news.iteration = std::make_shared<const ScriptedIteration>(
          to_be_planned(extract_script(trace, blocks, detection), options_));
      news.fingerprint = fingerprint(news.iteration->program);
      machine = machine_for(news.iteration->program, machine);
      publish(news);
      news.key = key_of(news, options_, ground_);
      const auto known = cache_.find({news.fingerprint, ground_});
      news.reused = known != cache_.end();
      if (news.reused) {
        news.preparation = known->second;
      } else {
        const bool for_all = options_.exchange && options_.exchange->has_others();
        for_all ? plan_for_all(news, machine) : plan_alone(news, machine);
        remember(news);
      }
    }
  } catch (const std::exception& error) {
    news.preparation.refusal = error.what();
  } catch (const Stopped&) {
    news.preparation.refusal = "stopped";
  }
  answer(news);
}

void BackgroundPlanner::work_again(const FollowedPlan& followed, const Machine& machine) {
  PlanningNews nothing_new{.iteration = followed.iteration,
                           .fingerprint = followed.fingerprint,
                           .preparation = {.plan = followed.plan}};
  nothing_new.key = key_of(nothing_new, options_, ground_);
  PlanningNews news = nothing_new;
  try {
    const PreparedPlan& current = *followed.plan;
    const Program& before = followed.iteration->program;
    TimedStep step = seen_under(current, before, followed.seen, machine);
    if (followed.was_searching || !still_holds(current, before, step)) {
      news.iteration = std::make_shared<const ScriptedIteration>(
          ScriptedIteration{std::move(step.program), followed.iteration->script});
      plan_again(news, current, step.machine);
    }
  } catch (const std::exception&) {
    news = nothing_new;  // it is followed all the same
  } catch (const Stopped&) {
    news = nothing_new;
  }
  answer(news);
}

// A plan that was made for other times may take twice as long as one made quickly for the right ones.
void BackgroundPlanner::plan_again(PlanningNews& news, const PreparedPlan& current, const Machine& machine) {
  const Program& program = news.iteration->program;
  const std::shared_ptr<const PreparedPlan> again =
      judged_again(current, program, machine, options_.capacity);
  const bool lies_well = current.ground == ground_;
  const auto is_better = [&](const Preparation& made) {
    return made.plan && (!lies_well || is_worth_it(made.plan->predicted_step, again->predicted_step));
  };
  bool searched = true;
  Preparation better = prepare_first(program, machine, &current);
  if (is_better(better)) {
    news.preparation = std::move(better);
    if (news.preparation.cut_short) searched = improve(news, machine);
  } else {
    let_the_program_go_first();
    const OwnTime time;
    better = prepare_well(program, machine, &current, true);
    searched = is_to_the_end(better, time);
    news.same = !is_better(better);
    if (news.same)
      news.preparation.plan = again;
    else
      news.preparation = std::move(better);
  }
  if (!lies_well && news.same) return;
  remember(news);
  keep(news, {program, machine}, searched);
}

void BackgroundPlanner::remember(const PlanningNews& news) {
  if (cache_.size() >= kMostPlans) cache_.clear();
  cache_[{news.fingerprint, ground_}] = news.preparation;
}

void BackgroundPlanner::answer(PlanningNews& news) {
  news.planned = news.done = true;
  publish(news);
  done_ = true;
}

}  // namespace ebb
