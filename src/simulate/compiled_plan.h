// A lowered plan flattened for the engine: one list of compute items, two queues of copies, all conditions as
// counts.
#pragma once

#include <vector>

#include "machine/machine.h"
#include "plan/lowered.h"
#include "simulate/address_gates.h"

namespace ebb {

// A replay step or an op. Conditions count what this iteration's queues must have finished; they may be
// negative.
struct Item {
  OpIndex op = 0;
  OpIndex position = 0;
  bool replay = false;
  bool has_end_work = false;  // releases, skips or drops to look at when it ends
  Nanoseconds duration = 0;
  Nanoseconds issue = 0;
  Bytes need = 0;       // taken at its start
  Bytes frees = 0;      // given back at its end
  Bytes workspace = 0;  // the part of `need` that is not load
  std::int32_t ins_done = 0;
  std::int32_t outs_done = 0;
  std::int32_t room_outs = 0;  // copy-outs that free the addresses it takes
};

// Item counts are relative to the iteration the copy is listed in, and may be negative.
struct OutCopy {
  GapId gap = 0;
  Bytes bytes = 0;
  Nanoseconds duration = 0;
  std::int32_t start_after = 0;    // items that must have ended
  std::int32_t release_after = 0;  // items that must have ended before its memory is free
  std::int32_t dies_after = 0;  // trailing: items after whose end an unstarted copy is skipped; else far away
};

struct InCopy {
  GapId gap = 0;
  Bytes bytes = 0;
  Nanoseconds duration = 0;
  std::int32_t start_after = 0;
  std::int32_t own_out = 0;     // copy-outs that must have ended: its own, and those that free its addresses
  OpIndex needed_position = 0;  // in the iteration it is listed in
};

struct CompiledPlan {
  std::vector<Item> items;
  std::vector<OutCopy> outs;
  std::vector<InCopy> ins;
  Bytes initial = 0;
  // By item (CSR): outs whose last reader it is and that may end before it; trailing outs whose block dies
  // with it; gaps that drop when it ends.
  std::vector<std::int32_t> release_first, release_list;
  std::vector<std::int32_t> death_first, death_list;
  std::vector<std::int32_t> drop_first, drop_list;
};

// Reuses the vectors of `result`.
class PlanCompiler {
 public:
  PlanCompiler(const Program& program, const Gaps& gaps, const Machine& machine);
  // `gates` may be nullptr.
  void compile(const LoweredPlan& plan, const AddressGates* gates, CompiledPlan& result);

 private:
  void list_items(const LoweredPlan& plan, CompiledPlan& result);
  void list_copies(const LoweredPlan& plan, CompiledPlan& result);
  void set_waits(const LoweredPlan& plan, CompiledPlan& result);

  const Program& program_;
  const Gaps& gaps_;
  const Machine& machine_;
  std::vector<Nanoseconds> op_times_;
  std::vector<Nanoseconds> out_times_, in_times_;  // by block
  std::vector<std::int32_t> op_item_;              // by op
  std::vector<std::int32_t> first_item_;           // by position
  std::vector<std::int32_t> out_index_;            // by swap
};

}  // namespace ebb
