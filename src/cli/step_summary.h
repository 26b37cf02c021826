// What `ebb inspect` says about a program, as numbers.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "plan/gaps.h"
#include "plan/smallest_limit.h"
#include "report/names.h"

namespace ebb::cli {

// Ops of one phase or one name, and the bytes at the peak that were born in them.
struct Share {
  std::string name;
  std::int64_t ops = 0;
  Nanoseconds time = 0;
  Bytes born = 0;       // alive at the peak and born in these ops
  Bytes workspace = 0;  // of the peak op, if it is one of these
};

struct LifetimeSummary {
  std::int64_t blocks = 0;
  Bytes bytes = 0;
};

// Gaps that span the peak op: bytes that lie idle while memory is scarcest.
struct IdleSummary {
  std::int64_t gaps = 0;
  Bytes bytes = 0;
  Bytes recomputable = 0;
};

struct GapSummary {
  Gap gap;
  Bytes bytes = 0;
  Nanoseconds idle = 0;  // Σ durations of the ops it spans
  bool spans_peak = false;
  bool recomputable = false;
  Nanoseconds recompute_time = 0;
};

struct StepSummary {
  std::array<LifetimeSummary, 3> lifetimes{};  // by Lifetime
  LifetimeSummary managed;
  std::array<std::int64_t, 3> gaps{};  // by GapKind
  Bytes peak_load = 0;
  OpIndex peak_load_op = 0;
  Bytes peak_demand = 0;
  OpIndex peak_op = 0;
  OpNeed largest_need;
  Bytes persistent_at_peak = 0;
  std::vector<Share> phases;             // in the order they first occur
  std::vector<Share> op_types;           // largest share of the time or of the bytes at the peak first
  std::array<IdleSummary, 3> idle{};     // by GapKind
  std::vector<GapSummary> largest_gaps;  // by bytes · idle time
};

// REQUIRES: `gaps` are the program's. At most `top` gaps are listed.
StepSummary summarise(const Program& program, const Gaps& gaps, std::size_t top);

using report::name_of;

}  // namespace ebb::cli
