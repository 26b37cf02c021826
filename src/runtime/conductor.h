// From a program nobody knows to one that follows a plan, and back: watches what is recorded, has the
// iteration found and planned in the background, follows the plan from an iteration's begin on, and lets go
// of it when the program does something else (docs/notes/planned-mode.md).
#pragma once

#include "runtime/background_planner.h"
#include "runtime/followed_step.h"
#include "runtime/follower.h"
#include "runtime/iteration_log.h"
#include "runtime/op_timer.h"
#include "runtime/slab_maker.h"

namespace ebb {

struct ConductorOptions {
  BackgroundOptions planning = {};
  std::optional<Machine> machine = {};  // nothing: links as measured so far
  bool link_is_shared = false;          // no faster than this run's own copies were
  bool records_plans = false;           // also what happens while a plan is followed
};

class Conductor final : public Guide, public CopyLog {
 public:
  // REQUIRES: all outlive the conductor.
  Conductor(Backend& backend, const RuntimeParts& parts, Remaker& remaker, Recorder& recorder, OpTimer& timer,
            const ConductorOptions& options);
  ~Conductor() override;

  bool op_begins(const OpSeen& op) override;
  bool needs_recipe() const override { return follower_->needs_recipe(tracker_->running()); }
  bool was_replayable() const override {
    return tracker_->iteration().program.op(tracker_->running()).replayable;
  }
  bool make_room() override { return places_hold_ = follower_->make_room(tracker_->running()); }
  void function_begins() override;
  void op_restarts() override;
  void op_ended(StepId step, const OpSpan& span) override;
  PlannedPlace place_of_malloc(Bytes bytes) override;
  void malloced(PagedBlock& block) override;
  bool make_room_for(const Step& replayed) override {
    return follower_ && follower_->make_room_for(replayed);
  }
  PlannedPlace place_of_replayed(const Step& step, std::size_t nth) override;
  bool keeps_freed(PagedBlock& block) override { return follower_ && follower_->keeps_freed(block); }
  bool keeps_replayed(const Step& step, const PagedBlock& block) override {
    return !follower_ || follower_->keeps_replayed(step, block);
  }
  bool wants_all() const override { return log_.sampling(); }
  void copied(Engine engine, const PagedBlock& block, Event start, Event end) override {
    (void)block;
    log_.copy(engine, follower_ ? follower_->current_gap() : -1, start, end);
  }

  // What the plan keeps although the program freed it.
  void let_freed_go() {
    if (follower_) follower_->let_all_go();
  }

  // Nothing is planned any more; what is followed stays.
  void stop_planning() { planner_.close(); }

  bool following() const { return follower_.has_value(); }
  DeviceStatus status();
  IterationLog& log() { return log_; }
  std::optional<StepComparison> comparison() const;
  std::optional<FollowedStep> followed() const;

 private:
  void look_for_iteration();
  void take_news();
  void use_iteration(const PlanningNews& news);
  void boundary();
  bool is_time();
  // Is it still open whether the plan that is followed was made for the right times?
  bool is_to_look_again() const;
  void look_again();
  void start_following();
  void stop_following();
  void forget_place();
  // Ops are timed, except while a plan is followed and nobody looks, and exactly if it is made for those
  // times. Call it when any of this changed.
  void update_wish_for_times() {
    parts_.guide.wants_times = !follower_ || log_.sampling();
    parts_.guide.wants_exact_times = !follower_ || log_.watching();
  }
  Machine machine_now() const;
  Machine link_now() const;
  LogCounts counts() const;

  Backend& backend_;
  const RuntimeParts& parts_;
  Remaker& remaker_;
  Recorder& recorder_;
  OpTimer& timer_;
  // What every op asks for comes first, as in PagedBlock.
  bool places_hold_ = false;             // the mallocs of the op that runs go where they are planned
  bool followed_all_along_ = false;      // in this iteration
  bool has_looked_again_ = false;        // at op times under the plan that is followed
  bool has_ended_search_ = false;        // for a better plan, in order to look
  std::optional<bool> has_right_times_;  // the plan, as far as was seen while a better one is looked for
  std::int64_t strange_ops_ = 0;         // since an iteration ended as it should
  std::optional<Tracker> tracker_;
  std::optional<Follower> follower_;
  IterationLog log_;
  BackgroundPlanner planner_;
  ConductorOptions options_;
  SlabMaker slabs_;
  std::shared_ptr<const ScriptedIteration> iteration_;  // of the tracker, with the times that plans are for
  std::shared_ptr<const PreparedPlan> plan_;            // of the tracker's iteration
  std::uint64_t fingerprint_ = 0;
  std::string key_;  // of the plan, in the exchange
  std::string refusal_;
  int looks_left_ = 0;              // at op times under plans of this iteration
  std::int64_t followed_ = 0;       // iterations of the plan that is followed
  std::int64_t look_at_event_ = 0;  // when to look for an iteration again
  std::int64_t looked_from_ = 0;    // the event at which the present search began
  std::int64_t plans_made_ = 0;
  std::int64_t plans_reused_ = 0;
  std::int64_t plans_taken_ = 0;
  std::int64_t plans_found_ = 0;  // that earlier runs kept
  std::int64_t fallbacks_ = 0;
  std::int64_t deviations_before_ = 0;  // of earlier trackers
  std::int64_t left_out_before_ = 0;    // of earlier followers
};

}  // namespace ebb
