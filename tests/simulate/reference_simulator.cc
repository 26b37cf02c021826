#include "simulate/reference_simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "simulate/reference_positions.h"

namespace ebb {
namespace {

constexpr std::int64_t kUnit = 1'000'000;

enum class State { resident, leaving, on_host, returning, dropped, dead };

// One life of a block. `died`: its death has ended, whatever still holds its memory.
struct Body {
  State state = State::resident;
  bool died = false;
  bool holds_memory() const {
    return state == State::resident || state == State::leaving || state == State::returning;
  }
};

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

struct Task {
  bool active = false;
  bool fresh = false;  // started, stretch not settled yet
  Nanoseconds left = 0;
  std::int64_t stretch = kUnit;
  Nanoseconds since = 0;
  Nanoseconds end = 0;
  std::size_t span = 0;  // in the timeline of its iteration
  int iteration = 0;     // in which it started
  Transfer transfer;
};

struct BoundaryState {
  std::int64_t outs_ahead = 0;
  std::int64_t ins_ahead = 0;
  Nanoseconds out_left = -1;
  Nanoseconds in_left = -1;
  Nanoseconds owed = 0;
  Bytes occupancy = 0;
  bool operator==(const BoundaryState&) const = default;

  // Only the times differ: the order of commands is steady all the same.
  bool same_order(const BoundaryState& o) const {
    return outs_ahead == o.outs_ahead && ins_ahead == o.ins_ahead && (out_left < 0) == (o.out_left < 0) &&
           (in_left < 0) == (o.in_left < 0);
  }
};

Nanoseconds ceil_div(__int128 a, std::int64_t b) { return static_cast<Nanoseconds>((a + b - 1) / b); }

class Reference {
 public:
  Reference(const Program& program, const Gaps& gaps, const Machine& machine, const LoweredPlan& lowered,
            Bytes limit)
      : program_(program),
        gaps_(gaps),
        machine_(machine),
        lowered_(lowered),
        limit_(limit),
        n_(program.op_count()),
        positions_(program, gaps, lowered) {}

  ReferenceResult run();

 private:
  // What there is.
  bool fits_by_position();
  void list_items();
  void place_blocks_at_start();
  std::pair<BlockId, int> body_key(GapId gap, int iteration) const;
  Body& body(GapId gap, int iteration) { return bodies_[body_key(gap, iteration)]; }
  Bytes resident_bytes() const;
  Bytes occupancy() const { return program_.info().unmanaged + resident_bytes() + workspace_; }
  Bytes wanted(const Item& item) const;

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

  // The loop over events.
  bool step_at_now();  // false: stop
  bool end_tasks();
  void end_item();
  void end_op(OpIndex op, int iteration);
  void end_out();
  void end_in();
  bool begin_out();
  bool begin_item();
  bool begin_in();
  std::optional<StallCause> obstacle() const;
  void settle();
  std::optional<Nanoseconds> next_time() const;

  // Iterations.
  bool cross_boundary();  // false: stop
  BoundaryState boundary_state() const;
  Nanoseconds left_now(const Task& task) const;
  void forget_iteration();
  void note_peak();
  void command(CommandKind kind, OpIndex op, GapId gap);
  Task& begin(Task& task, Nanoseconds nominal, Span span);
  void finish(Task& task);
  void note_wait();
  void end_wait();

  const Program& program_;
  const Gaps& gaps_;
  const Machine& machine_;
  const LoweredPlan& lowered_;
  const Bytes limit_;
  const OpIndex n_;
  ReferencePositions positions_;
  ReferenceResult result_;

  std::vector<Item> items_;
  std::map<std::pair<BlockId, int>, Body> bodies_;
  std::map<VersionId, Bytes> temporaries_;
  Bytes workspace_ = 0;
  Nanoseconds owed_ = 0;  // by the next item, for copies that the host started before it

  Nanoseconds now_ = 0;
  Task compute_, out_, in_;
  std::size_t items_started_ = 0, items_ended_ = 0;
  std::int64_t ops_ended_ = 0;
  std::size_t outs_taken_ = 0;  // started or skipped
  std::size_t ins_started_ = 0;
  std::set<Transfer> outs_started_, outs_ended_, ins_ended_;

  int iteration_ = 0;  // the one whose items run
  std::vector<Nanoseconds> starts_ = {0};
  BoundaryState last_boundary_;
  std::optional<Stall> wait_;
};

// ---------------------------------------------------------------------------------------------- what there
// is

bool Reference::fits_by_position() {
  for (OpIndex j = 0; j < n_; ++j)
    if (positions_.need(j) > limit_) {
      result_.step.infeasible = Infeasible{.obstacle = Obstacle::too_large,
                                           .op = j,
                                           .block = -1,
                                           .needed = positions_.need(j),
                                           .available = limit_,
                                           .detail = {}};
      return false;
    }
  if (machine_.host_bytes > 0 && positions_.host_peak() > machine_.host_bytes) {
    result_.step.infeasible = Infeasible{.obstacle = Obstacle::host_full,
                                         .op = kNoOp,
                                         .block = -1,
                                         .needed = positions_.host_peak(),
                                         .available = machine_.host_bytes,
                                         .detail = {}};
    return false;
  }
  return true;
}

void Reference::list_items() {
  for (OpIndex j = 0; j < n_; ++j) {
    for (const ReferenceStep& step : positions_.replay(j))
      items_.push_back({.position = j, .op = step.op, .step = &step});
    items_.push_back({.position = j, .op = j});
  }
}

void Reference::place_blocks_at_start() {
  for (BlockId b = 0; b < program_.block_count(); ++b) {
    if (program_.block(b).lifetime == Lifetime::local) continue;
    const int life = program_.block(b).lifetime == Lifetime::wrapping ? -1 : 0;
    const bool present = positions_.present_at_start(b);
    bodies_[{b, life}] = {.state = present ? State::resident : State::on_host};
  }
}

// Which life of the block the gap of that iteration belongs to.
std::pair<BlockId, int> Reference::body_key(GapId gap, int iteration) const {
  const BlockId b = gaps_[gap].block;
  const Block& block = program_.block(b);
  switch (block.lifetime) {
    case Lifetime::persistent:
      return {b, 0};
    case Lifetime::local:
      return {b, iteration};
    case Lifetime::wrapping:
      return {b, gaps_[gap].from >= block.birth ? iteration : iteration - 1};
  }
  return {b, 0};
}

Bytes Reference::resident_bytes() const {
  Bytes bytes = 0;
  for (const auto& [key, body] : bodies_)
    if (body.holds_memory()) bytes += program_.block(key.first).bytes;
  for (const auto& [version, size] : temporaries_) bytes += size;
  return bytes;
}

Bytes Reference::wanted(const Item& item) const {
  Bytes bytes = program_.op(item.op).workspace;
  if (!item.step) return bytes + program_.birth_bytes(item.op);
  for (VersionId v : item.step->allocates) bytes += positions_.bytes_of(v);
  return bytes;
}

// ------------------------------------------------------------------------------------------ what has
// happened

bool Reference::op_ended(int iteration, OpIndex op) const {
  return std::int64_t{iteration} * n_ + op < ops_ended_;
}

bool Reference::released(const Transfer& t) const {
  return t.iteration < 0 || (out_ended(t) && op_ended(t.iteration, positions_.last_present(*t.swap)));
}

Transfer Reference::out_at(std::size_t i) const {
  const std::size_t m = lowered_.outs.size();
  return {&lowered_.swaps[static_cast<std::size_t>(lowered_.outs[i % m])], static_cast<int>(i / m)};
}

Transfer Reference::in_at(std::size_t i) const {
  const std::size_t m = lowered_.ins.size();
  const Swap& swap = lowered_.swaps[static_cast<std::size_t>(lowered_.ins[i % m])];
  return {&swap, static_cast<int>(i / m) - (positions_.returns_next_iteration(swap) ? 1 : 0)};
}

std::int64_t Reference::needed_at(const Transfer& t) const {
  return std::int64_t{t.iteration} * n_ + t.swap->needed_at;
}

// -------------------------------------------------------------------------------------------------- the
// events

bool Reference::step_at_now() {
  for (bool changed = true; changed;) {
    const std::size_t ended_before = items_ended_;
    changed = end_tasks();
    const bool last_item = items_ended_ != ended_before && items_ended_ % items_.size() == 0;
    if (last_item && !cross_boundary()) return false;
    changed |= begin_out();
    changed |= begin_item();
    changed |= begin_in();
  }
  settle();
  note_wait();
  if (auto& load = result_.timeline.load; load.empty() || load.back().bytes != occupancy())
    load.push_back({now_ - starts_.back(), occupancy()});
  return true;
}

bool Reference::end_tasks() {
  bool any = false;
  if (compute_.active && compute_.end == now_) end_item(), any = true;
  if (out_.active && out_.end == now_) end_out(), any = true;
  if (in_.active && in_.end == now_) end_in(), any = true;
  return any;
}

void Reference::end_item() {
  finish(compute_);
  const Item& item = items_[items_ended_ % items_.size()];
  const int iteration = static_cast<int>(items_ended_ / items_.size());
  ++items_ended_;
  workspace_ = 0;
  if (!item.step) {
    ++ops_ended_;
    end_op(item.op, iteration);
    return;
  }
  for (VersionId v : item.step->frees) temporaries_.erase(v);
  for (GapId g : item.step->returns) {
    temporaries_.erase(gaps_[g].version);
    body(g, iteration).state = State::resident;
  }
}

void Reference::end_op(OpIndex op, int iteration) {
  std::set<GapId> leaving;
  for (GapId g = 0; g < gaps_.count(); ++g) {
    const Gap& gap = gaps_[g];
    const Decision& decision = lowered_.plan[g];
    const auto dies_here = [&](int of) {
      return gap.kind == GapKind::trailing && (of * n_ + gap.to - 1) == iteration * n_ + op;
    };
    if (decision.action == Action::recompute) {
      bool leaves = gap.from == op && !positions_.kept_past(g, op);
      for (const OpRange& stay : *decision.stays) leaves |= stay.end - 1 == op && stay.end != gap.to;
      if (!leaves || dies_here(iteration)) continue;
      body(g, iteration).state = body(g, iteration).died ? State::dead : State::dropped;
      command(CommandKind::drop, kNoOp, g);
    }
    if (decision.action == Action::swap) {
      const auto swap = std::find_if(lowered_.swaps.begin(), lowered_.swaps.end(),
                                     [g](const Swap& s) { return s.gap == g; });
      const OpIndex last = positions_.last_present(*swap);
      const Transfer t{&*swap, last >= n_ ? iteration - 1 : iteration};
      if (t.iteration < 0 || t.iteration * n_ + last != iteration * n_ + op || !released(t)) continue;
      if (swap->clean && dies_here(t.iteration)) continue;
      body(g, t.iteration).state = State::on_host;
      if (swap->clean)
        command(CommandKind::drop, kNoOp, g);
      else
        leaving.insert(g);
    }
  }
  for (std::int32_t index : lowered_.outs)  // drops by gap, then releases in the order of the link
    if (const GapId g = lowered_.swaps[static_cast<std::size_t>(index)].gap; leaving.contains(g))
      command(CommandKind::release, kNoOp, g);
  for (auto& [key, life] : bodies_) {
    const auto& [block, born] = key;
    const Block& b = program_.block(block);
    const bool dies = b.death == op && born == (b.lifetime == Lifetime::wrapping ? iteration - 1 : iteration);
    if (!dies) continue;
    life.died = true;
    bool kept = life.state == State::leaving;  // its copy is running: until that has ended
    for (GapId g = gaps_.first(block); g < gaps_.last(block); ++g)
      if (gaps_[g].kind == GapKind::trailing && gaps_[g].to == op + 1) kept |= positions_.kept_past(g, op);
    if (!kept) life.state = State::dead;
  }
}

void Reference::end_out() {
  finish(out_);
  const Transfer t = out_.transfer;
  outs_ended_.insert(t);
  Body& leaving = body(t.swap->gap, t.iteration);
  leaving.state = State::resident;
  if (!released(t)) return;
  leaving.state = leaving.died ? State::dead : State::on_host;
  command(CommandKind::release, kNoOp, t.swap->gap);
}

void Reference::end_in() {
  finish(in_);
  ins_ended_.insert(in_.transfer);
  body(in_.transfer.swap->gap, in_.transfer.iteration).state = State::resident;
}

bool Reference::begin_out() {
  if (lowered_.outs.empty() || out_.active) return false;
  const auto dead = [&](const Transfer& t) {
    return gaps_[t.swap->gap].kind == GapKind::trailing && op_ended(t.iteration, gaps_[t.swap->gap].to - 1);
  };
  bool popped = false;
  for (; dead(out_at(outs_taken_)); ++outs_taken_) {
    outs_ended_.insert(out_at(outs_taken_));
    popped = true;
  }
  const Transfer t = out_at(outs_taken_);
  if ((machine_.exclusive && in_.active) || !op_ended(t.iteration, t.swap->out_after)) return popped;
  ++outs_taken_;
  body(t.swap->gap, t.iteration).state = State::leaving;
  result_.step.bytes_out += t.swap->bytes;
  command(CommandKind::start_out, kNoOp, t.swap->gap);
  owed_ += machine_.copy_issue;
  begin(out_, machine_.copy_out_time(t.swap->bytes), {.lane = Lane::out, .gap = t.swap->gap}).transfer = t;
  return true;
}

// Why the next item cannot start now; compute is idle.
std::optional<StallCause> Reference::obstacle() const {
  const Item& item = next_item();
  const std::int64_t position = std::int64_t{compute_iteration()} * n_ + item.position;
  if (!item.step && starts_.back() + program_.op(item.op).issue > now_) return StallCause::issue;
  for (int iteration = 0; iteration <= compute_iteration() + 1; ++iteration)
    for (const Swap& swap : lowered_.swaps)
      if (!swap.clean && swap.out_by != kAuto && std::int64_t{iteration} * n_ + swap.out_by <= position &&
          !out_ended({&swap, iteration}))
        return StallCause::sync;
  for (int iteration = -1; iteration <= compute_iteration(); ++iteration)
    for (std::int32_t index : lowered_.ins) {
      const Transfer t{&lowered_.swaps[static_cast<std::size_t>(index)], iteration};
      const bool before_time = iteration < 0 && !positions_.returns_next_iteration(*t.swap);
      if (!before_time && needed_at(t) <= position && !ins_ended_.contains(t)) return StallCause::copy_in;
    }
  if (occupancy() + wanted(item) > limit_) return StallCause::room;
  return std::nullopt;
}

bool Reference::begin_item() {
  if (compute_.active || obstacle()) return false;
  end_wait();
  const Item item = next_item();
  const int iteration = compute_iteration();
  ++items_started_;
  workspace_ = program_.op(item.op).workspace;
  command(item.step ? CommandKind::replay : CommandKind::run, item.op, -1);
  if (item.step) {
    for (VersionId v : item.step->allocates) temporaries_[v] = positions_.bytes_of(v);
    for (const auto& [before, after] : item.step->in_place) {
      temporaries_.erase(before);
      temporaries_[after] = positions_.bytes_of(after);
    }
    result_.step.recompute_time += machine_.replay_time(program_.op(item.op));
  } else {
    for (BlockId b : program_.op(item.op).births) bodies_[{b, iteration}] = {};
    for (const Access& access : program_.op(item.op).accesses) {
      const Block& b = program_.block(access.block);
      const bool old_life = b.lifetime == Lifetime::wrapping && item.op <= b.death;
      const int life = b.lifetime == Lifetime::persistent ? 0 : iteration - (old_life ? 1 : 0);
      const State state = bodies_[{access.block, life}].state;
      if (state != State::resident && state != State::leaving)
        result_.disagreements.push_back(
            fmt::format("op {} of iteration {} finds block {} absent", item.op, iteration, access.block));
    }
  }
  note_peak();
  const Op& op = program_.op(item.op);
  begin(compute_, (item.step ? machine_.replay_time(op) : machine_.op_time(op)) + owed_,
        {.lane = Lane::compute, .replay = item.step != nullptr, .op = item.op});
  owed_ = 0;
  return true;
}

bool Reference::begin_in() {
  if (lowered_.ins.empty() || in_.active || (machine_.exclusive && out_.active)) return false;
  const Transfer t = in_at(ins_started_);
  if (!op_ended(t.iteration, t.swap->in_from - 1) || !released(t)) return false;
  Bytes asked = occupancy() + t.swap->bytes;
  if (!compute_.active) {
    const std::int64_t position = std::int64_t{compute_iteration()} * n_ + next_item().position;
    if (needed_at(t) > position) asked += wanted(next_item());
  }
  if (asked > limit_) return false;
  ++ins_started_;
  body(t.swap->gap, t.iteration).state = State::returning;
  note_peak();
  result_.step.bytes_in += t.swap->bytes;
  command(CommandKind::start_in, kNoOp, t.swap->gap);
  owed_ += machine_.copy_issue;
  begin(in_, machine_.copy_in_time(t.swap->bytes), {.lane = Lane::in, .gap = t.swap->gap}).transfer = t;
  return true;
}

void Reference::settle() {
  const std::int64_t copies = in_.active && out_.active ? machine_.copy_stretch() : kUnit;
  const auto slowdown = machine_.compute_stretch[(out_.active ? 1u : 0u) + (in_.active ? 2u : 0u)];
  for (const auto& [task, stretch] : {std::pair(&compute_, slowdown), {&out_, copies}, {&in_, copies}}) {
    if (!task->active || (!task->fresh && task->stretch == stretch)) continue;
    task->left = left_now(*task);
    task->fresh = false;
    task->stretch = stretch;
    task->since = now_;
    task->end = now_ + ceil_div(static_cast<__int128>(task->left) * stretch, kUnit);
  }
}

Nanoseconds Reference::left_now(const Task& task) const {
  const auto done = static_cast<__int128>(now_ - task.since) * kUnit / task.stretch;
  return std::max<Nanoseconds>(0, task.left - static_cast<Nanoseconds>(done));
}

std::optional<Nanoseconds> Reference::next_time() const {
  std::optional<Nanoseconds> next;
  const auto offer = [&](Nanoseconds time) { next = next ? std::min(*next, time) : time; };
  for (const Task* task : {&compute_, &out_, &in_})
    if (task->active) offer(task->end);
  if (!compute_.active && !next_item().step)
    if (const Nanoseconds issue = starts_.back() + program_.op(next_item().op).issue; issue > now_)
      offer(issue);
  return next;
}

// --------------------------------------------------------------------------------------------------
// iterations

bool Reference::cross_boundary() {
  const BoundaryState state = boundary_state();
  starts_.push_back(now_);
  const auto done = starts_.size() - 1;
  result_.step.iterations = static_cast<int>(done);
  if (state == last_boundary_) {
    result_.step.periodic = true;
    result_.step.step_time = starts_[done] - starts_[done - 1];
    return false;
  }
  if (done == 4) {
    result_.step.step_time = (starts_[4] - starts_[1]) / 3;
    if (!state.same_order(last_boundary_)) result_.schedule.commands.clear();
    return false;
  }
  last_boundary_ = state;
  forget_iteration();
  return true;
}

BoundaryState Reference::boundary_state() const {
  const auto iterations = static_cast<std::int64_t>(items_ended_ / items_.size());
  BoundaryState state;
  state.outs_ahead =
      static_cast<std::int64_t>(outs_taken_) - iterations * static_cast<std::int64_t>(lowered_.outs.size());
  state.ins_ahead =
      static_cast<std::int64_t>(ins_started_) - iterations * static_cast<std::int64_t>(lowered_.ins.size());
  if (out_.active) state.out_left = left_now(out_);
  if (in_.active) state.in_left = left_now(in_);
  state.owed = owed_;
  state.occupancy = occupancy();
  return state;
}

void Reference::forget_iteration() {
  ++iteration_;
  result_.timeline = {};
  result_.schedule = {};
  result_.step.stalls = {};
  result_.step.recompute_time = 0;
  result_.step.bytes_out = result_.step.bytes_in = 0;
  result_.step.peak_load = result_.step.peak_demand = 0;
  note_peak();
}

void Reference::note_peak() {
  result_.step.peak_load = std::max(result_.step.peak_load, resident_bytes());
  result_.step.peak_demand = std::max(result_.step.peak_demand, occupancy());
  if (occupancy() > limit_) result_.disagreements.push_back(fmt::format("{} bytes at {}", occupancy(), now_));
}

void Reference::command(CommandKind kind, OpIndex op, GapId gap) {
  const auto first = static_cast<std::size_t>(iteration_) * items_.size();
  result_.schedule.commands.push_back(
      {.kind = kind, .op = op, .gap = gap, .ended = static_cast<std::int32_t>(items_ended_ - first)});
}

Task& Reference::begin(Task& task, Nanoseconds nominal, Span span) {
  span.start = now_ - starts_.back();
  task = Task{};
  task.active = task.fresh = true;
  task.left = nominal;
  task.since = now_;
  task.end = nominal == 0 ? now_ : std::numeric_limits<Nanoseconds>::max();  // until settled
  task.span = result_.timeline.spans.size();
  task.iteration = iteration_;
  result_.timeline.spans.push_back(span);
  return task;
}

void Reference::finish(Task& task) {
  task.active = false;
  if (task.iteration == iteration_) result_.timeline.spans[task.span].end = task.end - starts_.back();
}

void Reference::note_wait() {
  if (compute_.active) return;
  const StallCause cause = *obstacle();
  if (wait_ && wait_->cause == cause) return;
  end_wait();
  wait_ = Stall{.cause = cause, .op = next_item().position, .start = now_ - starts_.back(), .end = 0};
}

void Reference::end_wait() {
  if (!wait_) return;
  wait_->end = now_ - starts_.back();
  auto& stalls = result_.timeline.stalls;
  const bool goes_on = !stalls.empty() && stalls.back().cause == wait_->cause &&
                       stalls.back().op == wait_->op && stalls.back().end == wait_->start;
  if (goes_on)
    stalls.back().end = wait_->end;
  else
    stalls.push_back(*wait_);
  result_.step.stalls[static_cast<std::size_t>(wait_->cause)] += wait_->end - wait_->start;
  wait_.reset();
}

ReferenceResult Reference::run() {
  result_.disagreements = positions_.disagreements();
  if (!fits_by_position()) return result_;
  list_items();
  place_blocks_at_start();
  result_.step.host_peak = positions_.host_peak();
  for (OpIndex i = 0; i < n_; ++i)
    result_.step.plain_time =
        std::max(result_.step.plain_time, program_.op(i).issue) + machine_.op_time(program_.op(i));
  last_boundary_ = boundary_state();
  note_peak();
  while (step_at_now()) {
    const auto next = next_time();
    if (!next) {
      result_.step.infeasible = Infeasible{.obstacle = Obstacle::stuck,
                                           .op = next_item().position,
                                           .block = -1,
                                           .needed = occupancy() + wanted(next_item()),
                                           .available = limit_,
                                           .detail = {}};
      return result_;
    }
    now_ = *next;
  }
  // The last iteration's copies that still run end when they would if nothing else happened.
  settle();
  for (const Task* task : {&out_, &in_})
    if (task->active && task->iteration == iteration_)
      result_.timeline.spans[task->span].end = task->end - starts_[starts_.size() - 2];
  return result_;
}

}  // namespace

ReferenceResult reference_simulate(const Program& program, const Gaps& gaps, const Machine& machine,
                                   const LoweredPlan& lowered, Bytes limit) {
  return Reference(program, gaps, machine, lowered, limit).run();
}

}  // namespace ebb
