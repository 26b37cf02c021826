#include "runtime/background_planner.h"

#include <fmt/format.h>

#include "runtime/shared_plan.h"
#include "trace/fingerprint.h"

namespace ebb {
namespace {

struct Stopped {};

// What has to be the same for two to follow one plan.
std::string key_of(const PlanningNews& news, const BackgroundOptions& options) {
  const ProgramInfo& info = news.iteration->program.info();
  return fmt::format("{}-{}-{}-{}-{}-{}", fingerprint_text(news.fingerprint), options.capacity,
                     info.unmanaged, info.smallest_managed, options.planner, options.allow_recompute);
}

ScriptedIteration with_threshold(ScriptedIteration iteration, Bytes smallest_managed) {
  ProgramInfo info = iteration.program.info();
  info.smallest_managed = smallest_managed;
  Program program = Program::build(info, iteration.program.ops(), iteration.program.blocks());
  return {std::move(program), std::move(iteration.script)};
}

}  // namespace

BackgroundPlanner::~BackgroundPlanner() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void BackgroundPlanner::start(Trace trace, const Machine& machine) {
  news_ = {};
  done_ = false;
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

Preparation BackgroundPlanner::prepare(const Program& program, const Machine& machine) {
  const PlannerOptions planning{.deadline_seconds = options_.deadline_seconds,
                                .allow_recompute = options_.allow_recompute,
                                .settings = {{"footprint", 0}},  // packed here, with a reserve
                                .progress = [this](const PlanningProgress&) {
                                  if (stop_) throw Stopped{};
                                }};
  return prepare_plan(program, machine,
                      {.planner = options_.planner,
                       .plan = options_.plan,
                       .capacity = options_.capacity,
                       .planning = planning});
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
    return taken ? *taken : prepare(program, machine);
  }
  const TimedStep step = slowest_of(mine, answer.measured);
  Preparation made;
  try {
    made = prepare(step.program, step.machine);
  } catch (const std::exception& error) {
    made.refusal = error.what();
  }
  exchange.give(news.key, encode_preparation(made, step, options_.capacity));
  return made;
}

void BackgroundPlanner::work(const Trace& trace, const Machine& machine) {
  PlanningNews news;
  try {
    const std::vector<BlockHistory> blocks = block_histories(trace, "the recorded run");
    const Detection detection = detect_iteration(trace, blocks, {});
    if (detection.status == DetectStatus::found) {
      news.iteration = std::make_shared<const ScriptedIteration>(
          with_threshold(extract_script(trace, blocks, detection), options_.smallest_managed));
      news.fingerprint = fingerprint(news.iteration->program);
      publish(news);
      if (options_.exchange) news.key = key_of(news, options_);
      const auto known = cache_.find(news.fingerprint);
      news.reused = known != cache_.end();
      if (news.reused) {
        news.preparation = known->second;
      } else {
        const Program& program = news.iteration->program;
        news.preparation =
            options_.exchange ? prepare_for_all(program, machine, news) : prepare(program, machine);
        if (cache_.size() >= kMostPlans) cache_.clear();
        cache_[news.fingerprint] = news.preparation;
      }
    }
  } catch (const std::exception& error) {
    news.preparation.refusal = error.what();
  } catch (const Stopped&) {
    news.preparation.refusal = "stopped";
  }
  news.done = true;
  publish(news);
  done_ = true;
}

}  // namespace ebb
