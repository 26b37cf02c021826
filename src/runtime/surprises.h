// What happened under a plan that the plan does not contain: who had to leave, for whom, in which op. For
// those who ask why a step took longer than predicted.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "trace/quantities.h"

namespace ebb {

enum class SurpriseKind : char {
  displaced,  // left because a plan wanted its place
  evicted,    // left because there was no room
  misplaced,  // did not get the place that was planned for it
  // What the plan asked for and could not be done:
  not_copied,    // out, ahead of its leaving
  not_released,  // stayed
  not_returned,  // in, ahead of its use
  not_dropped,   // left by a copy, or stayed
};

constexpr std::string_view name_of(SurpriseKind kind) {
  constexpr std::string_view kNames[] = {"displaced",    "evicted",      "misplaced",  "not_copied",
                                         "not_released", "not_returned", "not_dropped"};
  return kNames[static_cast<std::size_t>(kind)];
}

struct Surprise {
  SurpriseKind kind = SurpriseKind::displaced;
  std::int64_t at = 0;  // in ops since the device was made
  std::string op = {};  // during which; empty: between two
  bool replay = false;  // that op was run again
  Bytes bytes = 0;      // of the block
  Bytes offset = 0;     // where it lay; -1: nowhere
  Bytes wanted = 0;     // where the room was wanted, or the block; -1: anywhere
  Bytes wanted_end = 0;
};

// The last ones.
class SurpriseLog {
 public:
  static constexpr std::size_t kMost = 256;
  // REQUIRES: the name stays until the op has ended.
  void op_began(std::string_view name) { op_ = name; }
  void op_ended() { op_ = {}; }
  // REQUIRES: the name stays until the replay has ended.
  void replay_began(std::string_view name) { replayed_ = name; }
  void replay_ended() { replayed_.reset(); }
  void add(Surprise surprise) {
    surprise.op = replayed_.value_or(op_);
    surprise.replay = replayed_.has_value();
    ++count_;
    if (log_.size() == kMost) log_.pop_front();
    log_.push_back(std::move(surprise));
  }
  const std::deque<Surprise>& log() const { return log_; }
  std::int64_t count() const { return count_; }  // those forgotten too

 private:
  std::string_view op_;
  std::optional<std::string_view> replayed_;
  std::int64_t count_ = 0;
  std::deque<Surprise> log_;
};

}  // namespace ebb
