// From a recorded stretch to a plan, on a thread of its own: detect, extract, look up or plan, lay out.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "machine/machine.h"
#include "runtime/kept_plans.h"
#include "runtime/plan_exchange.h"
#include "runtime/prepared_plan.h"
#include "runtime/second_look.h"
#include "trace/iteration_script.h"

namespace ebb {

struct BackgroundOptions {
  std::string planner = {};
  PlanFunction plan = {};  // instead of a planner by name
  Bytes capacity = 0;
  Bytes smallest_managed = 0;
  bool allow_recompute = false;
  bool host_is_ahead = false;                   // plans do without the ops' issue times
  double quick_seconds = 2;                     // until there is a plan to begin with, packed
  double deadline_seconds = 10;                 // to search for a better one, or longer for a long step
  std::shared_ptr<PlanExchange> exchange = {};  // with others that run the same iteration
  std::shared_ptr<const KeptPlans> kept = {};   // by earlier runs, and for later ones
};

// What a job found; pointers are null for what it did not.
struct PlanningNews {
  bool planned = false;  // `preparation` says what came of it; a better one may come until done
  bool done = false;
  std::shared_ptr<const ScriptedIteration> iteration = {};
  std::uint64_t fingerprint = 0;
  Preparation preparation = {};
  bool reused = false;   // from the cache
  bool same = false;     // as it is followed, with what is to be expected of it now
  bool taken = false;    // another made it
  bool found = false;    // an earlier run kept it, or one that came before it and that nobody heard of
  std::string key = {};  // by which others know it
};

// A plan as it turned out when it was followed.
struct FollowedPlan {
  std::shared_ptr<const PreparedPlan> plan;
  std::shared_ptr<const ScriptedIteration> iteration;
  std::uint64_t fingerprint = 0;
  SeenTimes seen = {};
  bool was_searching = false;  // for a better one, which ended for this
};

class BackgroundPlanner {
 public:
  explicit BackgroundPlanner(const BackgroundOptions& options) : options_(options) {}
  ~BackgroundPlanner() { close(); }

  // Stops a search under way and waits for it. None begins any more.
  void close();

  bool busy() const { return thread_.joinable(); }
  bool done() const { return done_; }                        // all news are there to be polled
  bool has_answered() const { return improving_ || done_; }  // as done, but a better plan may come
  // REQUIRES: not busy. Nothing happens once it is closed.
  void start(Trace trace, const Machine& machine, Bytes ground);
  // Plans again if the plan was made for other times than there are. The answer is a better plan, or the same
  // with what is to be expected of it now, or, if there is nothing new or it is stopped, the very same.
  // REQUIRES: not busy. Nothing happens once it is closed.
  void start_again(FollowedPlan followed, const Machine& machine, Bytes ground);
  // What there is will do: a search for something better ends.
  void be_content() { enough_ = true; }
  std::int64_t plans_kept() const { return kept_; }  // written for later runs
  bool has_news() const { return has_news_.load(std::memory_order_acquire); }
  // Any news since the last call? When they say done, it is no longer busy.
  bool poll(PlanningNews& news);

 private:
  void work(const Trace& trace, Machine machine);
  void work_again(const FollowedPlan& followed, const Machine& machine);
  void plan_again(PlanningNews& news, const PreparedPlan& current, const Machine& machine);
  void remember(const PlanningNews& news);
  void answer(PlanningNews& news);
  void plan_alone(PlanningNews& news, const Machine& machine);
  void plan_for_all(PlanningNews& news, const Machine& machine);
  // Nothing is kept unless it was asked for.
  std::optional<KeptPlan> find_kept(const PlanningNews& news, const Program& program) const;
  void keep(const PlanningNews& news, const TimedStep& step, bool searched);
  void publish(const PlanningNews& news);
  // Searches on while the plan that there is can be followed. false: not to the end.
  bool improve(PlanningNews& news, const Machine& machine);
  // First of all, quickly; or as well as can be, for longer where a plan is followed meanwhile. Never worse
  // than `start`, if there is one.
  Preparation prepare_first(const Program& program, const Machine& machine, const PreparedPlan* start);
  Preparation prepare_well(const Program& program, const Machine& machine, const PreparedPlan* start,
                           bool is_followed);
  Preparation prepare(const Program& program, const Machine& machine, PreparationOptions options);

  static constexpr std::size_t kMostPlans = 32;
  BackgroundOptions options_;
  Bytes ground_ = 0;                                              // of the arena as it was when the job began
  std::map<std::pair<std::uint64_t, Bytes>, Preparation> cache_;  // by fingerprint and ground; of the job
  std::thread thread_;
  bool closed_ = false;
  std::atomic<bool> has_news_ = false;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> done_ = false;
  std::atomic<bool> improving_ = false;
  std::atomic<bool> enough_ = false;
  std::atomic<std::int64_t> kept_ = 0;
  std::mutex mutex_;  // guards news_
  PlanningNews news_;
};

}  // namespace ebb
