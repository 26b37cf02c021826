#include "layout/residencies.h"

#include <algorithm>

#include "plan/stays.h"

namespace ebb::layout {
namespace {

void add(ArenaProblem& arena, const Residency& residency, Time begin, Time end, Bytes size) {
  if (size == 0 || begin == end) return;
  arena.problem.buffers.push_back(
      {.id = static_cast<BufferId>(arena.residencies.size()), .begin = begin, .end = end, .size = size});
  arena.residencies.push_back(residency);
}

// Walks the schedule twice: the first time to learn what is there at the boundary, the second to write down
// what happens. A residency that began in the first round and ends in the second wraps.
class ScheduleWalk {
 public:
  ScheduleWalk(const Program& program, const Gaps& gaps, const LoweredPlan& lowered, const Schedule& schedule)
      : program_(program),
        gaps_(gaps),
        lowered_(lowered),
        commands_(schedule.commands),
        period_(static_cast<Time>(schedule.commands.size())),
        open_(program.blocks().size()) {}

  ArenaProblem run() {
    arena_.problem.period = period_;
    open_what_is_there_at_first();
    for (round_ = 0; round_ < 2; ++round_) walk();
    // Born again before its last life was over, and still not over a round after that birth.
    for (const Open& open : lingering_)
      emit(open.residency, open.begin, open.begin + period_ + 1, program_.block(open.residency.block).bytes,
           -1);
    for (std::size_t b = 0; b < open_.size(); ++b)
      if (open_[b].is_open && !open_[b].moved)
        emit(open_[b].residency, 0, period_, program_.blocks()[b].bytes, -1);
    return std::move(arena_);
  }

 private:
  struct Open {
    bool is_open = false;
    bool moved = false;    // it was taken or given back at least once
    bool copying = false;  // its copy-out has started
    Time begin = 0;
    Residency residency = {};
  };
  // A version that a replay has made and not yet given back.
  struct Temporary {
    VersionId version = 0;
    Time begin = 0;
    Residency residency = {};
  };

  struct Dying {
    BlockId block = 0;
    Time end = 0;
    std::int32_t freed_by = -1;
  };

  std::int32_t here() const { return static_cast<std::int32_t>(at_); }
  Time now() const { return static_cast<Time>(at_) + static_cast<Time>(round_) * period_; }

  void open_what_is_there_at_first() {
    for (BlockId b = 0; b < program_.block_count(); ++b)
      if (program_.block(b).lifetime != Lifetime::local)
        open_[static_cast<std::size_t>(b)] = {.is_open = true,
                                              .residency = {.taken_by = TakenBy::already_there, .block = b}};
    for (const Swap& swap : lowered_.swaps) {
      const Gap& gap = gaps_[swap.gap];
      const OpIndex n = program_.op_count();
      const bool away = gap.kind == GapKind::trailing ? gap.to > n : swap.needed_at >= n;
      if (away) open_[static_cast<std::size_t>(swap.block)] = {};
    }
  }

  void walk() {
    std::int32_t item = 0;
    step_ = 0;
    for (at_ = 0; at_ < commands_.size(); ++at_) {
      const Command& command = commands_[at_];
      bury();
      switch (command.kind) {
        case CommandKind::run:
          run_op(command.op, end_of_item(item++));
          break;
        case CommandKind::replay:
          run_step(command.op, end_of_item(item++));
          break;
        case CommandKind::start_out:
          open_[block_of(command)].copying = true;
          break;
        case CommandKind::start_in:
          open(gaps_[command.gap].block,
               {.taken_by = TakenBy::copy_in, .block = gaps_[command.gap].block, .gap = command.gap}, now());
          break;
        case CommandKind::release:
          release(gaps_[command.gap]);
          break;
        case CommandKind::drop:
          close(gaps_[command.gap].block, now(), here());
          break;
      }
    }
  }

  // The place of the first command that may count on the item having ended.
  Time end_of_item(std::int32_t item) const {
    std::size_t i = at_ + 1;
    while (i < commands_.size() && commands_[i].ended <= item) ++i;
    return static_cast<Time>(i) + static_cast<Time>(round_) * period_;
  }

  void run_op(OpIndex i, Time end) {
    const Op& op = program_.op(i);
    emit({.taken_by = TakenBy::workspace, .op = i}, now(), end, op.workspace, here());
    for (BlockId b : op.births) open(b, {.taken_by = TakenBy::birth, .block = b, .op = i}, now());
    for (BlockId b : program_.deaths(i)) dying_.push_back({b, end, here()});
  }

  // An op's deaths count when it has ended: a copy-out listed until then goes on, a later one does not start.
  void bury() {
    std::erase_if(dying_, [&](const Dying& dying) {
      if (dying.end > now()) return false;
      const Open& state = open_[static_cast<std::size_t>(dying.block)];
      if (state.is_open && !state.copying && !is_kept_past_death(dying.block))
        close(dying.block, dying.end, dying.freed_by);
      return true;
    });
  }

  bool is_kept_past_death(BlockId b) const {
    for (GapId g = gaps_.first(b); g < gaps_.last(b); ++g)
      if (kept_past_death(gaps_[g], lowered_.plan[g])) return true;
    return false;
  }

  void run_step(OpIndex i, Time end) {
    const OpIndex before = lowered_.replays[step_].before;
    emit({.taken_by = TakenBy::workspace, .op = i, .before = before}, now(), end, program_.op(i).workspace,
         here());
    for (const OpOutput& output : program_.outputs(i)) {
      const auto it = std::find_if(temporaries_.begin(), temporaries_.end(),
                                   [&](const Temporary& t) { return t.version == output.replaces; });
      if (it != temporaries_.end()) {
        it->version = output.version;
        continue;
      }
      const BlockId b = program_.version(output.version).block;
      temporaries_.push_back(
          {output.version, now(), {.taken_by = TakenBy::replay, .block = b, .op = i, .before = before}});
    }
    ++step_;
    const bool last = step_ == lowered_.replays.size() || lowered_.replays[step_].before != before;
    std::erase_if(temporaries_, [&](const Temporary& temporary) {
      const bool scratch = is_there(temporary.version, before);
      if (!scratch && survives(temporary.version, before)) {
        if (last) open(temporary.residency.block, temporary.residency, temporary.begin);
        return last;
      }
      if (!scratch && read_later(temporary.version, before)) return false;
      emit(temporary.residency, temporary.begin, end, program_.block(temporary.residency.block).bytes,
           here());
      return true;
    });
  }

  // Is the version the content of a block that is present again from this position on?
  bool survives(VersionId version, OpIndex position) const {
    const BlockId b = program_.version(version).block;
    for (GapId g = gaps_.first(b); g < gaps_.last(b); ++g) {
      const Decision& decision = lowered_.plan[g];
      if (gaps_[g].version != version || decision.action != Action::recompute) continue;
      if (gaps_[g].kind != GapKind::trailing && gaps_[g].to == position) return true;
      for (const OpRange& stay : *decision.stays)
        if (stay.begin == position) return true;
    }
    return false;
  }

  // Does its block hold this content already, as one does that stayed since an earlier replay? Then what
  // comes out is scratch, and nobody reads it.
  bool is_there(VersionId version, OpIndex position) const {
    const BlockId b = program_.version(version).block;
    const Open& state = open_[static_cast<std::size_t>(b)];
    if (!state.is_open || state.copying) return false;
    const auto accesses = program_.accesses(b);
    const auto next = std::find_if(accesses.begin(), accesses.end(),
                                   [&](const BlockAccess& access) { return access.op >= position; });
    return !accesses.empty() &&
           (next == accesses.begin() ? accesses.back() : *std::prev(next)).version == version;
  }

  bool read_later(VersionId version, OpIndex before) const {
    for (std::size_t k = step_; k < lowered_.replays.size() && lowered_.replays[k].before == before; ++k) {
      const auto inputs = program_.inputs(lowered_.replays[k].op);
      if (std::find(inputs.begin(), inputs.end(), version) != inputs.end()) return true;
    }
    return false;
  }

  std::size_t block_of(const Command& command) const {
    return static_cast<std::size_t>(gaps_[command.gap].block);
  }

  void open(BlockId b, const Residency& residency, Time begin) {
    Open& state = open_[static_cast<std::size_t>(b)];
    if (state.is_open && state.copying) lingering_.push_back(state);
    state = {.is_open = true, .moved = true, .begin = begin, .residency = residency};
  }

  // A block that dies while it is copied may be born again before the copy has ended.
  void release(const Gap& gap) {
    const auto last_life = std::find_if(lingering_.begin(), lingering_.end(),
                                        [&](const Open& open) { return open.residency.block == gap.block; });
    if (last_life != lingering_.end()) {
      emit(last_life->residency, last_life->begin, now(), program_.block(gap.block).bytes, here());
      lingering_.erase(last_life);
      return;
    }
    const bool of_last_life =
        gap.kind == GapKind::trailing && !open_[static_cast<std::size_t>(gap.block)].copying;
    if (!of_last_life) close(gap.block, now(), here());
  }

  void close(BlockId b, Time end, std::int32_t freed_by) {
    Open& state = open_[static_cast<std::size_t>(b)];
    // What was there at first is seen again, with its beginning, in the second round.
    if (state.residency.taken_by != TakenBy::already_there)
      emit(state.residency, state.begin, end, program_.block(b).bytes, freed_by);
    state = {.moved = true};
  }

  void emit(Residency residency, Time begin, Time end, Bytes size, std::int32_t freed_by) {
    residency.freed_by = freed_by;
    if (round_ == 0) return;
    // What was there at first and is given back one round later was there before, too.
    const bool since_before = residency.taken_by == TakenBy::already_there && freed_by >= 0;
    if (end - begin > period_ || since_before) {
      arena_.meets_itself = true;
      end = begin + period_;
    }
    if (residency.taken_by == TakenBy::already_there || begin < period_)
      add(arena_, residency, begin, end, size);
    else
      add(arena_, residency, begin - period_, end - period_, size);
  }

  const Program& program_;
  const Gaps& gaps_;
  const LoweredPlan& lowered_;
  const std::vector<Command>& commands_;
  const Time period_;
  int round_ = 0;
  std::size_t at_ = 0;
  std::size_t step_ = 0;
  std::vector<Open> open_;       // by block
  std::vector<Open> lingering_;  // dead, but still being copied, and born again
  std::vector<Temporary> temporaries_;
  std::vector<Dying> dying_;
  ArenaProblem arena_;
};

}  // namespace

ArenaProblem arena_problem(const Program& program) {
  const Time n = program.op_count();
  ArenaProblem arena;
  arena.problem.period = n;
  for (BlockId b = 0; b < program.block_count(); ++b) {
    const Block& block = program.block(b);
    if (block.lifetime == Lifetime::persistent) {
      add(arena, {.taken_by = TakenBy::already_there, .block = b}, 0, n, block.bytes);
      continue;
    }
    const Time end = block.death + 1 + (block.lifetime == Lifetime::wrapping ? n : 0);
    add(arena, {.taken_by = TakenBy::birth, .block = b, .op = block.birth}, block.birth, end, block.bytes);
  }
  for (OpIndex i = 0; i < program.op_count(); ++i)
    add(arena, {.taken_by = TakenBy::workspace, .op = i}, i, i + 1, program.op(i).workspace);
  return arena;
}

ArenaProblem arena_problem(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                           const Schedule& schedule) {
  return ScheduleWalk(program, gaps, lowered, schedule).run();
}

}  // namespace ebb::layout
