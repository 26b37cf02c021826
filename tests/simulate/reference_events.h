// The reference's loop over events: three engines and a clock, one iteration after the other. Written from
// docs/notes/simulation.md, Engines to Order of events.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "machine/machine.h"
#include "simulate/reference_memory.h"
#include "simulate/reference_positions.h"
#include "simulate/reference_record.h"

namespace ebb {

// The state at the end of an iteration.
struct ReferenceBoundary {
  std::int64_t outs_ahead = 0;
  std::int64_t ins_ahead = 0;
  Nanoseconds out_left = -1;
  Nanoseconds in_left = -1;
  Nanoseconds host_behind = 0;
  Bytes occupancy = 0;
  bool operator==(const ReferenceBoundary&) const = default;

  // Only the times differ: the order of commands is steady all the same.
  bool same_order(const ReferenceBoundary& o) const {
    return outs_ahead == o.outs_ahead && ins_ahead == o.ins_ahead && (out_left < 0) == (o.out_left < 0) &&
           (in_left < 0) == (o.in_left < 0);
  }
};

class ReferenceEvents {
 public:
  // At time 0. REQUIRES: all that is given outlives the loop.
  ReferenceEvents(const Program& program, const Gaps& gaps, const Machine& machine,
                  const LoweredPlan& lowered, Bytes limit, const ReferencePositions& positions,
                  ReferenceRecord& record);

  // Until all that ends with the last item has ended. Returns why not, if the plan is stuck.
  std::optional<Infeasible> run_iteration();
  ReferenceBoundary boundary() const;
  Nanoseconds now() const { return now_; }
  // Copies that still run end when they would if nothing else happened. No iteration follows.
  void end_running_copies();

 private:
  using State = ReferenceMemory::State;
  using Body = ReferenceMemory::Body;

  struct Item {
    OpIndex position = 0;
    OpIndex op = 0;
    const ReferenceStep* step = nullptr;  // null: the op itself
  };

  // A swap of one iteration; `iteration` is that of the gap's `from`.
  struct Transfer {
    const Swap* swap = nullptr;
    int iteration = 0;
    bool operator<(const Transfer& o) const {
      return std::pair(swap, iteration) < std::pair(o.swap, o.iteration);
    }
  };

  static constexpr std::int64_t kUnit = 1'000'000;

  struct Task {
    bool active = false;
    bool fresh = false;  // started, stretch not settled yet
    Nanoseconds left = 0;
    std::int64_t stretch = kUnit;
    Nanoseconds since = 0;
    Nanoseconds end = 0;
    ReferenceRecord::SpanPlace span;
    Transfer transfer;
  };

  // What has happened.
  bool op_ended(int iteration, OpIndex op) const;
  bool released(const Transfer& t) const;
  bool out_ended(const Transfer& t) const {
    return t.iteration < 0 || t.swap->clean || outs_ended_.contains(t);
  }
  Transfer out_at(std::size_t i) const;
  Transfer in_at(std::size_t i) const;
  std::int64_t needed_at(const Transfer& t) const;
  const Item& next_item() const { return items_[items_started_ % items_.size()]; }
  int compute_iteration() const { return static_cast<int>(items_started_ / items_.size()); }
  Bytes wanted(const Item& item) const { return memory_.wanted(item.op, item.step); }

  // What happens at one time.
  bool settle_now();  // false: the iteration has ended
  bool end_tasks();
  void end_item();
  void end_op(OpIndex op, int iteration);
  void end_out();
  void end_in();
  bool begin_out();
  bool begin_item();
  bool begin_in();
  Nanoseconds op_issue() const { return machine_.op_issue + machine_.follow_issue; }
  Nanoseconds issue_of(const Item& item) const { return item.step ? machine_.replay_issue : op_issue(); }
  Nanoseconds host_free_no_further_ahead() const {
    const Nanoseconds item = std::max(op_issue(), machine_.replay_issue);
    return std::max(host_free_, now_ - machine_.host_lead - item);
  }
  std::optional<StallCause> obstacle() const;

  // Tasks and the clock.
  Task& begin(Task& task, Nanoseconds nominal, Span span);
  void finish(Task& task);
  Nanoseconds left_now(const Task& task) const;
  void settle_stretches();
  std::optional<Nanoseconds> next_time() const;

  void note_peak();
  void command(CommandKind kind, OpIndex op, GapId gap);

  const Program& program_;
  const Gaps& gaps_;
  const Machine& machine_;
  const LoweredPlan& lowered_;
  const Bytes limit_;
  const OpIndex n_;
  const ReferencePositions& positions_;
  ReferenceMemory memory_;
  ReferenceRecord& record_;

  std::vector<Item> items_;
  Nanoseconds now_ = 0;
  Task compute_, out_, in_;
  Nanoseconds host_free_ = 0;  // when the host can begin to issue the next item
  std::size_t items_started_ = 0, items_ended_ = 0;
  std::int64_t ops_ended_ = 0;
  std::size_t outs_taken_ = 0;  // started or skipped
  std::size_t ins_started_ = 0;
  std::set<Transfer> outs_ended_, ins_ended_;
};

}  // namespace ebb
