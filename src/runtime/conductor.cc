#include "runtime/conductor.h"

#include <algorithm>
#include <utility>

#include "trace/fingerprint.h"

namespace ebb {
namespace {

constexpr std::int64_t kFirstLook = 64;            // events recorded before an iteration is looked for
constexpr std::size_t kMostLookedAt = 400'000;     // events, from the last back
constexpr std::int64_t kStrangeOps = 64;           // in a row, beside an iteration's length: look for another
constexpr std::int64_t kRememberedIterations = 2;  // whose ops can be run again
constexpr int kMostLooks = 3;                      // each may be followed by another plan
constexpr std::int64_t kLeastUntouched = 3;        // iterations: a program may pause in one
constexpr std::int64_t kMostWatching = 30;         // iterations, if they cannot be timed as they are planned
constexpr std::int64_t kMeasuredCopy = 1'000'000;  // bytes over which a link's speed is asked

}  // namespace

Conductor::Conductor(Backend& backend, const RuntimeParts& parts, Remaker& remaker, Recorder& recorder,
                     OpTimer& timer, const ConductorOptions& options)
    : backend_(backend),
      parts_(parts),
      remaker_(remaker),
      recorder_(recorder),
      timer_(timer),
      log_(backend),
      planner_(options.planning),
      options_(options),
      slabs_(backend, parts.pager.host()),
      look_at_event_(kFirstLook) {
  parts_.pager.set_copy_log(this);
}

Conductor::~Conductor() { parts_.pager.set_copy_log(nullptr); }

Machine Conductor::machine_now() const {
  Machine machine = link_now();
  if (!options_.planning.host_is_ahead) return machine;
  const HostPace& pace = timer_.host_pace();
  machine.op_issue = std::max(machine.op_issue, pace.op_issue());
  machine.replay_issue = std::max(machine.replay_issue, pace.replay_issue());
  if (follower_) machine.follow_issue = std::max(machine.follow_issue, pace.follow_issue());
  machine.copy_issue = std::max(machine.copy_issue, parts_.pager.copy_issue());
  return machine;
}

Machine Conductor::link_now() const {
  if (options_.machine) {
    Machine machine = *options_.machine;
    if (!options_.link_is_shared) return machine;
    const auto at_most = [&](Bytes& bandwidth, Engine engine) {
      if (const std::optional<Bytes> seen = parts_.pager.bandwidth(engine))
        bandwidth = std::min(bandwidth, *seen);
    };
    at_most(machine.bandwidth_out, Engine::out);
    at_most(machine.bandwidth_in, Engine::in);
    return machine;
  }
  const auto bandwidth = [&](Engine engine) {
    const Nanoseconds time =
        parts_.pager.copy_time(engine, kMeasuredCopy) - parts_.pager.copy_latency(engine);
    return kMeasuredCopy * 1'000'000'000 / std::max<Nanoseconds>(time, 1);
  };
  return {.name = "as measured",
          .bandwidth_out = bandwidth(Engine::out),
          .bandwidth_in = bandwidth(Engine::in),
          .latency_out = parts_.pager.copy_latency(Engine::out),
          .latency_in = parts_.pager.copy_latency(Engine::in)};
}

LogCounts Conductor::counts() const {
  return {.statistics = parts_.statistics,
          .stalls = parts_.pager.stalls().total(),
          .deviations = deviations_before_ + (tracker_ ? tracker_->deviations() : 0),
          .left_out = left_out_before_ + (follower_ ? follower_->left_out() : 0)};
}

void Conductor::look_for_iteration() {
  if (planner_.busy() || recorder_.events() < look_at_event_) return;
  if (tracker_ && tracker_->known() && strange_ops_ < tracker_->iteration().program.op_count() + kStrangeOps)
    return;
  timer_.update();
  const std::int64_t end = timer_.first_unknown().value_or(recorder_.events());
  planner_.start(recorder_.tail(end, kMostLookedAt), machine_now(), parts_.pager.pinned_ground());
  // Ever later, so that all looks together cost a few times as much as the last one.
  look_at_event_ = recorder_.events() + std::max(kFirstLook, (recorder_.events() - looked_from_) / 4);
}

void Conductor::take_news() {
  if (!planner_.has_news()) return;
  PlanningNews news;
  if (!planner_.poll(news) || !news.iteration) return;
  if (!tracker_ || fingerprint_ != news.fingerprint) use_iteration(news);
  if (!news.planned) return;
  refusal_ = news.preparation.refusal;
  if (!news.preparation.plan || plan_ == news.preparation.plan) return;
  plan_ = news.preparation.plan;
  if (!news.reused) iteration_ = news.iteration;
  key_ = news.key;
  if (!news.same)
    ++(news.reused ? plans_reused_ : news.taken ? plans_taken_ : news.found ? plans_found_ : plans_made_);
  slabs_.want(plan_->lowered.host_peak);
}

void Conductor::use_iteration(const PlanningNews& news) {
  stop_following();
  if (tracker_) deviations_before_ += tracker_->deviations();
  iteration_ = news.iteration;
  tracker_.emplace(iteration_);
  fingerprint_ = news.fingerprint;
  plan_ = nullptr;
  strange_ops_ = 0;
  looks_left_ = kMostLooks;
  parts_.recipes.set_horizon(std::nullopt);
  log_.lose();
}

void Conductor::stop_following() {
  if (!follower_) return;
  recorder_.resume(parts_.table);
  left_out_before_ += follower_->left_out();
  follower_.reset();
  update_wish_for_times();
  ++fallbacks_;
}

bool Conductor::is_time() {
  PlanExchange* exchange = options_.planning.exchange.get();
  return !exchange || exchange->may_follow(key_);
}

void Conductor::start_following() {
  if (follower_) left_out_before_ += follower_->left_out();
  follower_.emplace(parts_, remaker_, *tracker_, timer_, plan_);
  followed_ = 0;
  has_looked_again_ = has_ended_search_ = false;
  has_right_times_.reset();
  log_.plan_begins();
  timer_.host_pace().clear();  // it has other things to do under another plan
}

bool Conductor::is_to_look_again() const {
  if (!follower_ || has_looked_again_ || looks_left_ == 0 || !options_.planning.host_is_ahead) return false;
  const LoweredPlan& plan = follower_->plan().lowered;
  const bool moves = !plan.swaps.empty() || !plan.replays.empty();
  return moves && !(options_.planning.exchange && options_.planning.exchange->has_others());
}

void Conductor::look_again() {
  if (!is_to_look_again() || &follower_->plan() != plan_.get()) return;
  const bool watched = log_.watched_ops().enough();
  if (!watched || log_.untouched() < kLeastUntouched) {
    has_looked_again_ = followed_ > kMostWatching;
    // Not the first: everything went to its place in it. Nor the second, which is shown to people. And
    // between them some that this does not touch.
    if (!watched && followed_ % 3 == 2) log_.watch_ops();
    return;
  }
  SeenTimes seen{.ops = log_.watched_ops(), .host = log_.watched_host(), .step = log_.shortest_step()};
  if (planner_.busy()) {  // perhaps for the wrong times
    if (!has_right_times_) {
      const Program& program = iteration_->program;
      has_right_times_ = still_holds(*plan_, program, seen_under(*plan_, program, seen, machine_now()));
    }
    if (*has_right_times_) return;
    planner_.be_content();
    has_ended_search_ = true;
    return;
  }
  has_looked_again_ = true;
  --looks_left_;
  planner_.start_again({.plan = plan_,
                        .iteration = iteration_,
                        .fingerprint = fingerprint_,
                        .seen = std::move(seen),
                        .was_searching = std::exchange(has_ended_search_, false)},
                       machine_now(), parts_.pager.pinned_ground());
}

void Conductor::forget_place() {
  stop_following();
  planner_.be_content();
  parts_.recipes.set_horizon(std::nullopt);
  log_.lose();
  looked_from_ = recorder_.events();
  look_at_event_ = std::min(look_at_event_, looked_from_ + kFirstLook);
}

bool Conductor::op_begins(const OpSeen& op) {
  take_news();
  if (!tracker_) return false;
  const bool was_known = tracker_->known();
  const Tracker::Verdict verdict = tracker_->op_begins(op, parts_.pager.now());
  if (verdict == Tracker::Verdict::unknown) {
    followed_all_along_ = false;
    recorder_.resume(parts_.table);
    if (++strange_ops_ == tracker_->iteration().program.op_count() + kStrangeOps) forget_place();
    return false;
  }
  if (verdict == Tracker::Verdict::found && was_known) forget_place();
  if (verdict == Tracker::Verdict::jumped && tracker_->place() == 0) log_.lose();
  if (!follower_) return false;
  follower_->issue_until(tracker_->place());
  return true;
}

void Conductor::function_begins() {
  if (follower_ && tracker_->running() != kNoOp) follower_->issue_beside(tracker_->running());
}

void Conductor::op_restarts() {
  places_hold_ = false;
  if (tracker_) tracker_->op_restarts();
}

void Conductor::op_ended(StepId step, const OpSpan& span) {
  if (!tracker_) return look_for_iteration();
  const OpIndex op = tracker_->running();
  if (op == kNoOp) return look_for_iteration();
  if (step != kNoStep) {
    parts_.recipes.set_planned_op(step, op);
    if (span.end == kHappened)
      parts_.recipes.set_duration(step, tracker_->iteration().program.op(op).duration);
  }
  if (span.end != kHappened) log_.op(op, span);
  tracker_->op_ended();
  if (tracker_->place() == 0) boundary();
}

void Conductor::boundary() {
  strange_ops_ = 0;
  parts_.recipes.set_horizon(kRememberedIterations * tracker_->iteration().program.op_count());
  parts_.pager.stalls().update(backend_);
  log_.boundary(parts_.pager.compute_mark(Stamp::time), counts(), parts_.pager.take_arena_peak(),
                follower_ && followed_all_along_);
  if (follower_) {
    follower_->iteration_ended();
    ++followed_;
  }
  const bool another = !follower_ || &follower_->plan() != plan_.get();
  if (another && plan_ && tracker_->complete() && slabs_.finished() && is_time())
    start_following();
  else
    look_again();
  update_wish_for_times();
  followed_all_along_ = follower_.has_value();
  if (follower_ && !options_.records_plans) recorder_.pause();
}

PlannedPlace Conductor::place_of_malloc(Bytes bytes) {
  if (!tracker_) return {};
  const ScriptMalloc* malloc = tracker_->expect_malloc(bytes);
  if (!malloc || !follower_) return {};
  if (malloc->inside && !places_hold_) return {};  // one hole was made for all of them
  if (!malloc->inside) follower_->issue_until(tracker_->place());
  return follower_->place_of(*malloc, tracker_->place());
}

void Conductor::malloced(PagedBlock& block) {
  if (!tracker_) return;
  tracker_->malloced(block);
  if (follower_ && block.follower) block.home = block.at.region.offset;
}

PlannedPlace Conductor::place_of_replayed(const Step& step, std::size_t nth) {
  return follower_ ? follower_->place_of_replayed(step, nth) : PlannedPlace{};
}

DeviceStatus Conductor::status() {
  log_.update();
  const bool searching = planner_.busy() && !planner_.done();
  const bool answered = plan_ || planner_.has_answered();
  const bool takes_over = follower_ && (&follower_->plan() != plan_.get() || !follower_->has_begun());
  DeviceStatus status{.mode = follower_ ? Mode::planned : Mode::reactive,
                      .iteration_known = tracker_.has_value(),
                      .planning = searching && !answered,
                      .improving = (planner_.busy() && answered) || takes_over || is_to_look_again(),
                      .refusal = refusal_,
                      .measured_step = log_.last_step(),
                      .iterations = log_.count(),
                      .planned_iterations = log_.planned(),
                      .plans_made = plans_made_,
                      .plans_reused = plans_reused_,
                      .plans_taken = plans_taken_,
                      .plans_found = plans_found_,
                      .plans_kept = planner_.plans_kept(),
                      .deviations = counts().deviations,
                      .fallbacks = fallbacks_,
                      .left_out = counts().left_out,
                      .stalls = counts().stalls};
  if (tracker_) {
    status.fingerprint = fingerprint_text(fingerprint_);
    status.ops_per_iteration = tracker_->iteration().program.op_count();
  }
  if (plan_) {
    status.planner = plan_->planner;
    status.predicted_step = plan_->predicted_step;
    status.predicted_replays = static_cast<std::int64_t>(plan_->lowered.replays.size());
    status.plain_step = plan_->step.plain_time;
    status.planning_seconds = plan_->planning_seconds;
  }
  return status;
}

std::optional<StepComparison> Conductor::comparison() const {
  if (!follower_ || !log_.measured()) return std::nullopt;
  const PreparedPlan& plan = follower_->plan();
  return StepComparison{.predicted_step = plan.predicted_step,
                        .measured_step = log_.measured_step(),
                        .predicted = plan.timeline,
                        .measured = *log_.measured()};
}

std::optional<FollowedStep> Conductor::followed() const {
  if (!iteration_) return std::nullopt;
  return FollowedStep{
      .iteration = iteration_, .plan = plan_, .machine = machine_for(iteration_->program, machine_now())};
}

}  // namespace ebb
