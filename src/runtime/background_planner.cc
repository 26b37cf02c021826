#include "runtime/background_planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/arena.h"
#include "runtime/shared_plan.h"
#include "trace/fingerprint.h"

namespace ebb {
namespace {

constexpr double kQuickFit = 6;  // seconds of attempts to pack, while the program goes on without a plan,
constexpr double kFit = 15;      // and while it follows one

struct Stopped {};

// What has to be the same for two to follow one plan.
std::string key_of(const PlanningNews& news, const BackgroundOptions& options, Bytes ground) {
  const ProgramInfo& info = news.iteration->program.info();
  return fmt::format("{}-{}-{}-{}-{}-{}-{}", fingerprint_text(news.fingerprint), options.capacity, ground,
                     info.unmanaged, info.smallest_managed, options.planner, options.allow_recompute);
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

}  // namespace

BackgroundPlanner::~BackgroundPlanner() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void BackgroundPlanner::start(Trace trace, const Machine& machine, Bytes ground) {
  ground_ = ground;
  news_ = {};
  done_ = improving_ = enough_ = false;
  thread_ = std::thread([this, trace = std::move(trace), machine] { work(trace, machine); });
}

bool BackgroundPlanner::poll(PlanningNews& news) {
  if (!has_news_.load(std::memory_order_acquire)) return false;
  {
    const std::lock_guard lock(mutex_);
    news = news_;
    has_news_ = false;
  }
  if (news.done) thread_.join();
  return true;
}

void BackgroundPlanner::publish(const PlanningNews& news) {
  const std::lock_guard lock(mutex_);
  news_ = news;
  has_news_.store(true, std::memory_order_release);
}

Preparation BackgroundPlanner::prepare(const Program& program, const Machine& machine, double planner_seconds,
                                       double fit_seconds) {
  const PlannerOptions planning{.deadline_seconds = planner_seconds,
                                .allow_recompute = options_.allow_recompute,
                                .settings = {{"footprint", 0}},  // packed here, with a reserve
                                .progress = [this](const PlanningProgress&) {
                                  if (stop_ || (improving_ && enough_)) throw Stopped{};
                                }};
  return prepare_plan(program, machine,
                      {.planner = options_.planner,
                       .plan = options_.plan,
                       .capacity = options_.capacity,
                       .ground = ground_,
                       .planning = planning,
                       .fit_seconds = fit_seconds});
}

Preparation BackgroundPlanner::prepare_for_all(const Program& program, const Machine& machine,
                                               PlanningNews& news) {
  PlanExchange& exchange = *options_.exchange;
  const TimedStep mine{program, machine};
  const ExchangeAnswer answer = exchange.ask(news.key, encode_times(mine), [this] { return stop_.load(); });
  if (stop_) throw Stopped{};
  if (!answer.plan_here) {
    std::optional<Preparation> taken = decode_preparation(answer.plan, program, options_.capacity);
    news.taken = taken.has_value();
    return taken ? *taken : prepare(program, machine, options_.deadline_seconds, kFit);
  }
  const TimedStep step = slowest_of(mine, answer.measured);
  Preparation made;
  try {
    made = prepare(step.program, step.machine, options_.deadline_seconds, kFit);
  } catch (const std::exception& error) {
    made.refusal = error.what();
  }
  exchange.give(news.key, encode_preparation(made, step, options_.capacity));
  return made;
}

void BackgroundPlanner::improve(PlanningNews& news, const Machine& machine) {
  const std::shared_ptr<const PreparedPlan> first = news.preparation.plan;
  news.planned = first != nullptr;
  publish(news);
  improving_ = first != nullptr;
  try {
    Preparation better = prepare(news.iteration->program, machine, options_.deadline_seconds, kFit);
    if (!first || (better.plan && is_worth_it(better.plan->predicted_step, first->predicted_step)))
      news.preparation = std::move(better);
  } catch (const Stopped&) {
    if (!first) throw;
  }
}

void BackgroundPlanner::work(const Trace& trace, const Machine& machine) {
  PlanningNews news;
  try {
    const std::vector<BlockHistory> blocks = block_histories(trace, "the recorded run");
    const Detection detection = detect_iteration(trace, blocks, {});
    if (detection.status == DetectStatus::found) {
      news.iteration = std::make_shared<const ScriptedIteration>(
          to_be_planned(extract_script(trace, blocks, detection), options_));
      news.fingerprint = fingerprint(news.iteration->program);
      publish(news);
      const bool for_all = options_.exchange && options_.exchange->has_others();
      if (options_.exchange) news.key = key_of(news, options_, ground_);
      const auto known = cache_.find({news.fingerprint, ground_});
      news.reused = known != cache_.end();
      if (news.reused) {
        news.preparation = known->second;
      } else {
        const Program& program = news.iteration->program;
        if (for_all) {
          news.preparation = prepare_for_all(program, machine, news);
        } else {
          const double quick = std::min(options_.quick_seconds, options_.deadline_seconds);
          news.preparation = prepare(program, machine, quick, kQuickFit);
          if (news.preparation.cut_short && quick < options_.deadline_seconds) improve(news, machine);
        }
        if (cache_.size() >= kMostPlans) cache_.clear();
        cache_[{news.fingerprint, ground_}] = news.preparation;
      }
    }
  } catch (const std::exception& error) {
    news.preparation.refusal = error.what();
  } catch (const Stopped&) {
    news.preparation.refusal = "stopped";
  }
  news.planned = news.done = true;
  publish(news);
  done_ = true;
}

}  // namespace ebb
