// Where a planned malloc goes: (op, k-th malloc of that op) → offset, as an array look-up.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/quantities.h"

namespace ebb::layout {

// One planned malloc.
struct PlannedMalloc {
  OpIndex op = 0;
  int nth = 0;  // among the mallocs of the op, from 0
  Bytes offset = 0;
  bool operator==(const PlannedMalloc&) const = default;
};

inline constexpr Bytes kUnplanned = -1;

class ReplayTable {
 public:
  ReplayTable() = default;
  // In any order. Throws InputError if an op or nth is negative or not below `ops`, two entries are for the
  // same malloc, or an op lacks an entry below its highest nth.
  ReplayTable(OpIndex ops, std::vector<PlannedMalloc> mallocs);

  // kUnplanned for a malloc that the plan does not know. REQUIRES: nth >= 0.
  Bytes offset(OpIndex op, int nth) const {
    if (op < 0 || op >= ops()) return kUnplanned;
    const std::size_t at = static_cast<std::size_t>(start_[op]) + static_cast<std::size_t>(nth);
    return at < static_cast<std::size_t>(start_[op + 1]) ? offsets_[at] : kUnplanned;
  }

  OpIndex ops() const { return static_cast<OpIndex>(start_.size()) - 1; }
  std::size_t mallocs() const { return offsets_.size(); }

 private:
  std::vector<std::int32_t> start_{0};  // per op, and one more: where its offsets begin
  std::vector<Bytes> offsets_;
};

// Walks a table as the program runs: begin each op, then ask for the place of each of its mallocs in turn.
class ReplayCursor {
 public:
  // REQUIRES: the table outlives the cursor.
  explicit ReplayCursor(const ReplayTable& table) : table_(&table) {}

  void begin_op(OpIndex op) {
    op_ = op;
    nth_ = 0;
  }
  Bytes next_malloc() { return table_->offset(op_, nth_++); }

 private:
  const ReplayTable* table_;
  OpIndex op_ = kNoOp;
  int nth_ = 0;
};

}  // namespace ebb::layout
