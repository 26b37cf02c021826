// Runs ops: operands in, function, versions and records after. An op that runs out of memory in the middle is
// abandoned and run once more with all else out of the way, if what it changed in place can be restored from
// the host.
#pragma once

#include <set>

#include "runtime/live_frame.h"
#include "runtime/op_clock.h"
#include "runtime/op_history.h"
#include "runtime/op_timer.h"

namespace ebb {

struct ExecutorOptions {
  std::uint64_t seed = 0;
  bool keep_recipes = false;
  bool time_ops = true;  // without a guide; one knows better
  OpClockOptions clock = {};
};

class Executor {
 public:
  // REQUIRES: all outlive the executor.
  Executor(Backend& backend, const RuntimeParts& parts, Recorder& recorder, const ExecutorOptions& options);

  void exec(const OpInfo& info, std::span<const Handle> reads, std::span<const Handle> writes,
            const ExecFunction& function);
  // Learns how long ops took, before someone is chosen to leave.
  void update_times() { timer_.update(); }
  Remaker& remaker() { return remaker_; }
  OpTimer& timer() { return timer_; }
  // The recorder's clock. It stands still while nothing is recorded and nobody asks for times: reading it
  // takes long, for what an op may cost.
  Nanoseconds time() {
    if (parts_.guide.current ? parts_.guide.wants_times : !recorder_.paused()) time_ = recorder_.now();
    return time_;
  }
  // The host could not go on: time that is none of the program's own.
  void host_was_held(Nanoseconds time) { held_ += time; }
  // Was this block born in an op that was abandoned? Asked when a program frees what its function still held
  // then.
  bool forget_abandoned(Handle birth) { return abandoned_births_.erase(birth) > 0; }

 private:
  struct Timing {
    Nanoseconds entered = 0;
    Nanoseconds issue = 0;  // that, by a clock which stands still while the host is held
    Nanoseconds function_began = 0;
    Nanoseconds function_ended = 0;
    bool function_ran = false;
    bool wanted = false;
    bool ran_out = false;      // compute, of work, before it, if wanted
    Event start = kHappened;   // if wanted
    Nanoseconds of_clock = 0;  // what timing it took the host
  };
  bool wants_times() const { return parts_.guide.current ? parts_.guide.wants_times : options_.time_ops; }
  bool wants_exact_times() const { return !parts_.guide.current || parts_.guide.wants_exact_times; }
  // `guided`: a plan knows where the op's mallocs go.
  void bring_together(OpCall& call, std::optional<Bytes> inside, bool guided);
  void decide_recipe(OpCall& call, bool guided);
  // false: one is not; those before it may be pinned.
  bool pin_if_all_are_there(OpCall& call);
  bool attempt(OpCall& call, const ExecFunction& function, Timing& timing);
  void undo(OpCall& call);
  void restore(PagedBlock& block);
  void change(PagedBlock& block);
  void finish(const OpInfo& info, OpCall& call, const ExecFunction& function, const Timing& timing,
              bool completed);
  // The event's number in the record.
  std::int64_t write_down(Phase phase, const OpCall& call, const Timing& timing, bool replayable);
  StepId record_step(OpCall& call, const ExecFunction& function);
  void let_go(OpCall& call);

  Backend& backend_;
  const RuntimeParts& parts_;
  Recorder& recorder_;
  ExecutorOptions options_;
  Nanoseconds time_ = 0;
  Nanoseconds held_ = 0;                   // the host, by this device, so far
  std::optional<Nanoseconds> last_issue_;  // of the op before, if it was timed
  OpCall call_;                            // that runs
  Remaker remaker_;
  OpTimer timer_;
  OpClock clock_;
  OpHistory history_;
  std::set<Handle> abandoned_births_;
  std::vector<PagedBlock*> blocks_;
  std::vector<RecordedAccess> accesses_;
};

}  // namespace ebb
