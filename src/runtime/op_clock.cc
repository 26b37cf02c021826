#include "runtime/op_clock.h"

namespace ebb {

Event OpClock::start(bool exactly) {
  had_run_out_ = false;
  if (keeps_ahead_ && exactly) keep_ahead();
  kept_ahead_ = keeps_ahead_ && exactly;
  if (!kept_ahead_) skip();
  const bool follows = kept_ahead_ && last_end_ != kHappened && pager_.is_all_of_compute(last_end_);
  return follows ? last_end_ : backend_.record(Engine::compute, Stamp::time);
}

OpSpan OpClock::end(Event start) {
  last_end_ = pager_.compute_mark(Stamp::time);
  if (kept_ahead_) issued_.push_back(last_end_);
  return {start, last_end_, of_events_};
}

void OpClock::keep_ahead() {
  learn_what_events_take();
  if (is_fresh_) {  // a queue may be full of ops that were not timed
    is_fresh_ = false;
    issued_.clear();
    holds_for_nothing_ = 0;
    backend_.synchronize(pager_.compute_mark());
    had_run_out_ = true;
    hold_compute();
  } else if (issued_.empty() ||
             backend_.happened(issued_[issued_.size() - std::min(issued_.size(), kLeast)])) {
    had_run_out_ = true;
    holds_for_nothing_ = issued_.size() <= 2 ? holds_for_nothing_ + 1 : 0;
    if (holds_for_nothing_ <= kMostHoldsForNothing)
      hold_compute();
    else
      issued_.clear();
  } else if (issued_.size() >= kMost) {
    backend_.synchronize(issued_[kMost / 2]);
    issued_.erase(issued_.begin(), issued_.begin() + kMost / 2);
  }
  if (++started_ % kEmptyPairs == 0) time_events();
}

void OpClock::hold_compute() {
  issued_.clear();
  try {
    copy_for_nobody();
  } catch (const BackendError&) {
    keeps_ahead_ = false;  // ops are timed as well as it goes
  }
}

// The copies read what is on the device, whatever it is. Nothing returns meanwhile, which would write it.
void OpClock::copy_for_nobody() {
  const Bytes bytes = std::min({kCopied, pager_.capacity(), held_bytes_});
  const Bytes copies = std::min(held_bytes_ / bytes, kMostCopies);
  waits_.clear();
  const std::optional<HostPlace> place = pager_.host().take(bytes, waits_);
  if (!place) throw BackendError(pager_.host().refusal());
  const auto end = [&] {
    const Event over = backend_.record(Engine::out);
    pager_.host().give(*place, over);
    backend_.wait(Engine::in, over);
    backend_.wait(Engine::compute, over);
    pager_.compute_advanced();
    return over;
  };
  try {
    for (const Event event : waits_) backend_.wait(Engine::out, event);
    backend_.wait(Engine::out, backend_.record(Engine::in));
    for (Bytes i = 0; i < copies; ++i)
      backend_.copy(Engine::out, pager_.host().address(*place), pager_.memory(), bytes);
  } catch (const BackendError&) {
    end();
    throw;
  }
  issued_.push_back(end());
}

void OpClock::time_events() {
  const Event first = backend_.record(Engine::compute, Stamp::time);
  pager_.compute_advanced();
  empty_.push_back({first, pager_.compute_mark(Stamp::time)});
  last_end_ = empty_.back().end;
}

void OpClock::learn_what_events_take() {
  while (!empty_.empty() && backend_.happened(empty_.front().end)) {
    try {
      empty_times_.add(empty_.front().op_time(backend_));
      of_events_ = empty_times_.median();
    } catch (const BackendError&) {
      // They lie too far back.
    }
    empty_.pop_front();
  }
}

}  // namespace ebb
