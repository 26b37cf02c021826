// What a machine can do: how fast it computes relative to the recording, and what its links carry.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "trace/program.h"

namespace ebb {

inline constexpr std::int64_t kNoStretch = 1'000'000;  // compute or a copy is not slowed down

// Links are in bytes per second, stretches in millionths.
struct Machine {
  std::string name = {};
  std::string source = {};  // where the numbers come from

  double compute_scale = 1.0;                   // recorded op times are multiplied by this
  std::map<std::string, double> op_scale = {};  // and by this, for ops of that exact name
  double teraflops = 0;                         // of matrix ops as trained with; 0 = unknown
  double memory_gb_per_s = 0;                   // device memory bandwidth; 0 = unknown

  Bytes bandwidth_out = 0;
  Bytes bandwidth_in = 0;
  Bytes bandwidth_both = 0;  // cap on the sum while both directions run; 0 = none
  Nanoseconds latency_out = 0;
  Nanoseconds latency_in = 0;
  // Where the device waits for its host: what the host takes to issue an op, with what the program does
  // before it; what following a plan adds to that; what it takes to issue one again, and to start a copy; and
  // how far ahead of compute it can be.
  Nanoseconds op_issue = 0;
  Nanoseconds follow_issue = 0;
  Nanoseconds replay_issue = 0;
  Nanoseconds copy_issue = 0;
  Nanoseconds host_lead = 0;
  bool exclusive = false;  // one transfer at a time, not preempted, outs first
  // Compute stretch while copies run: [0] none, [1] out, [2] in, [3] both.
  std::array<std::int64_t, 4> compute_stretch = {kNoStretch, kNoStretch, kNoStretch, kNoStretch};
  bool worst_stretch = false;      // … of compute that takes all of `memory_gb_per_s` (`stretched_as`)
  Bytes device_bytes = 0;          // 0 = unknown
  Bytes host_bytes = 0;            // 0 = unlimited
  double pin_seconds_per_gib = 0;  // until host memory can be copied at full speed ([HOME] §3.2); 0 = unknown
  bool operator==(const Machine&) const = default;

  Nanoseconds op_time(const Op& op) const;
  // From one op to the next where the device waits for its host, and what running an op again costs.
  Nanoseconds least_time(const Op& op) const { return std::max(op_time(op), op_issue + follow_issue); }
  Nanoseconds replay_price(const Op& op) const { return std::max(op_time(op), replay_issue); }
  Nanoseconds copy_out_time(Bytes bytes) const;  // nominal: latency + bytes / bandwidth, rounded up
  Nanoseconds copy_in_time(Bytes bytes) const;
  std::int64_t copy_stretch() const;  // of each copy while the other direction runs
};

}  // namespace ebb
