// Times ops on compute. Where compute is an engine of its own, two events around an op measure a late host
// too: on a device that has nothing to do the first one happens at once, and the device waits for the op to
// be issued. So while ops are timed the host is kept ahead: when little is left to do of what was issued,
// compute is made to wait for copies that nobody needs, during which the host goes on. Nor does the host get
// so far ahead that a driver's queue is full: what it takes for an op is then its own time.
//
//   compute   … a b |  waits  | c d e f g h i …       b had ended when c was to be issued
//   host      … a   b           c  d  e  f  g  h  i   and is ahead from then on
#pragma once

#include <deque>

#include "runtime/op_span.h"
#include "runtime/pager.h"
#include "runtime/recent_times.h"

namespace ebb {

struct OpClockOptions {
  bool keeps_host_ahead = false;
  Bytes bandwidth = 10'000'000'000;  // of copies to the host
};

class OpClock {
 public:
  // REQUIRES: both outlive it.
  OpClock(Backend& backend, Pager& pager, const OpClockOptions& options)
      : backend_(backend),
        pager_(pager),
        keeps_ahead_(options.keeps_host_ahead),
        held_bytes_(std::max<Bytes>(options.bandwidth / 1000 * kHeldMilliseconds, 1)) {}

  // Before an op and after it. Where the host is kept ahead, an op that follows another begins where that
  // ended. `exactly`: the host is kept ahead, if that was asked for and can be.
  Event start(bool exactly = true);
  OpSpan end(Event start);
  // An op passes that is not timed.
  void skip() { is_fresh_ = true; }
  // Was the host kept ahead when the last op was started?
  bool kept_ahead() const { return kept_ahead_; }
  // Had compute run out of work before the op that was started last? Then the program may have waited for it.
  bool had_run_out() const { return had_run_out_; }

 private:
  void keep_ahead();
  void hold_compute();
  void copy_for_nobody();
  void time_events();
  void learn_what_events_take();

  static constexpr std::size_t kLeast = 32;  // ops that are left to do, or compute is held
  static constexpr std::size_t kMost = 256;  // or the host waits until half of them are done
  static constexpr Bytes kHeldMilliseconds = 5;
  static constexpr Bytes kCopied = 32 * kMiB;       // at once, at most,
  static constexpr Bytes kMostCopies = 64;          // and so many times
  static constexpr std::uint64_t kEmptyPairs = 16;  // one in so many ops
  // With one op each, as if the program waited for each: then compute is not held any more, or each op would
  // cost it that.
  static constexpr int kMostHoldsForNothing = 16;

  Backend& backend_;
  Pager& pager_;
  bool keeps_ahead_;
  Bytes held_bytes_;      // are copied while compute is held
  bool is_fresh_ = true;  // the op before was not timed, or not exactly
  bool kept_ahead_ = false;
  bool had_run_out_ = false;
  int holds_for_nothing_ = 0;  // the last ones, since the op before was not timed
  std::uint64_t started_ = 0;
  Event last_end_ = kHappened;
  std::deque<Event> issued_;  // ends of ops since compute was held, and of that
  // What two events with nothing in between take: more beside copies, so only the last ones count.
  std::deque<OpSpan> empty_;
  RecentTimes empty_times_{15};
  Nanoseconds of_events_ = 0;
  std::vector<Event> waits_;  // kept between calls so that it allocates nothing in the long run
};

}  // namespace ebb
