#include "plan/validate_walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace ebb {
namespace {

bool stay_holds(const Gap& gap, const Decision& decision, OpIndex position) {
  return std::any_of(decision.stays->begin(), decision.stays->end(), [&](const OpRange& stay) {
    const bool there = stay.begin < position || (stay.begin == position && stay.begin == gap.from + 1);
    return there && position < stay.end;
  });
}

}  // namespace

ScheduleWalk::ScheduleWalk(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                           const Schedule& schedule, Bytes limit)
    : program_(program),
      gaps_(gaps),
      lowered_(lowered),
      commands_(schedule.commands),
      limit_(limit),
      n_(program.op_count()),
      swap_of_(static_cast<std::size_t>(gaps.count()), nullptr),
      out_rank_(swap_of_.size(), -1),
      in_rank_(swap_of_.size(), -1),
      targets_(static_cast<std::size_t>(n_)),
      waits_(static_cast<std::size_t>(n_)),
      expected_(static_cast<std::size_t>(n_)),
      live_(program.blocks().size()),
      host_(program.blocks().size(), -1),
      crossings_(swap_of_.size()) {
  for (const Swap& swap : lowered.swaps) at(swap_of_, swap.gap) = &swap;
  for (std::size_t i = 0; i < lowered.outs.size(); ++i)
    at(out_rank_, at(lowered.swaps, lowered.outs[i]).gap) = static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i < lowered.ins.size(); ++i)
    at(in_rank_, at(lowered.swaps, lowered.ins[i]).gap) = static_cast<std::int64_t>(i);
  for (const Command& command : commands_) {
    if (command.kind == CommandKind::run) item_of_op_.push_back(items_);
    if (command.kind == CommandKind::run || command.kind == CommandKind::replay) ++items_;
  }
  list_targets();
  list_waits();
  list_contents();
}

void ScheduleWalk::list_targets() {
  for (GapId g = 0; g < gaps_.count(); ++g) {
    const Decision& decision = lowered_.plan[g];
    if (decision.action != Action::recompute) continue;
    for (const OpRange& stay : *decision.stays)
      if (stay.begin > gaps_[g].from + 1) at(targets_, stay.begin).push_back(g);
    if (gaps_[g].kind == GapKind::between) at(targets_, gaps_[g].to).push_back(g);
  }
}

void ScheduleWalk::list_waits() {
  for (const Swap& swap : lowered_.swaps) {
    if (gaps_[swap.gap].kind == GapKind::trailing) continue;  // its copy-out may be skipped
    at(waits_, swap.needed_at % n_).push_back({swap.gap, swap.needed_at, true});
    if (swap.out_by != kAuto && !swap.clean)
      at(waits_, swap.out_by % n_).push_back({swap.gap, swap.out_by, false});
  }
}

void ScheduleWalk::list_contents() {
  first_.assign(live_.size(), -1);
  for (std::size_t v = program_.versions().size(); v-- > 0;)
    at(first_, program_.versions()[v].block) = static_cast<VersionId>(v);
  last_ = first_;
  for (OpIndex i = 0; i < n_; ++i) {
    for (BlockId b : program_.op(i).births) at(last_, b) = program_.version_at_birth(b);
    for (const Access& access : program_.op(i).accesses) at(expected_, i).push_back(at(last_, access.block));
    for (const OpOutput& output : program_.outputs(i))
      at(last_, program_.version(output.version).block) = output.version;
  }
}

std::vector<OpIndex> ScheduleWalk::drop_ops(const Gap& gap, const Decision& decision) {
  const bool dies_at_once = gap.kind == GapKind::trailing && gap.to == gap.from + 1;
  std::vector<OpIndex> ops;
  if (!stay_holds(gap, decision, gap.from + 1) && !dies_at_once) ops.push_back(gap.from);
  for (const OpRange& stay : *decision.stays)
    if (stay.end != gap.to) ops.push_back(stay.end - 1);
  return ops;
}

std::vector<Violation> ScheduleWalk::judge() {
  held_ = program_.info().unmanaged;
  for (BlockId b = 0; b < program_.block_count(); ++b) {
    if (program_.block(b).lifetime == Lifetime::local) continue;
    at(live_, b).content = at(first_, b);
    set_present(at(live_, b), b, true);
    const auto accesses = program_.accesses(b);
    const bool written =
        std::any_of(accesses.begin(), accesses.end(), [](const BlockAccess& a) { return a.writes; });
    if (!written && program_.block(b).lifetime == Lifetime::persistent) at(host_, b) = at(first_, b);
  }
  walk_once();
  const State before = state();
  judging_ = true;
  ++pass_;
  walk_once();
  if (violations_.empty() && state() != before)
    report(Rule::not_cyclic, kNoOp, -1,
           "the iteration does not end with the blocks and contents it began with");
  return violations_;
}

ScheduleWalk::State ScheduleWalk::state() const {
  State state{live_, {}, kept_};
  for (const Crossing& crossing : crossings_) state.stages.push_back(crossing.stage);
  return state;
}

void ScheduleWalk::walk_once() {
  listed_.clear();
  drops_done_.clear();
  ended_ = 0;
  position_ = 0;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const Command& command = commands_[i];
    end_items(command.ended);
    switch (command.kind) {
      case CommandKind::run:
        begin_op(command.op);
        break;
      case CommandKind::replay:
        begin_replay(i);
        break;
      case CommandKind::start_out:
        start_out(command);
        break;
      case CommandKind::release:
        release(command);
        break;
      case CommandKind::start_in:
        start_in(command);
        break;
      case CommandKind::drop:
        drop(command);
        break;
    }
    if (command.kind == CommandKind::run || command.kind == CommandKind::replay) listed_.push_back(&command);
    if (command.kind == CommandKind::run) ++position_;
  }
  end_items(items_);
  cross_boundary();
}

// What the iteration left in a block is what the next one finds in it.
void ScheduleWalk::cross_boundary() {
  for (BlockId b = 0; b < program_.block_count(); ++b)
    for (VersionId* v : {&at(live_, b).content, &at(host_, b)}) *v = *v == at(last_, b) ? at(first_, b) : -1;
}

void ScheduleWalk::begin_op(OpIndex op) {
  begin_position(op);
  for (const auto& [version, bytes] : temporaries_)
    held_ -= bytes;  // left over only where a step was out of order
  temporaries_.clear();
  for (GapId g : at(targets_, op)) {
    const Body* body = find(g);
    if (body == nullptr || !body->present)
      report(Rule::replay_missing, op, gaps_[g].block,
             fmt::format("block {} is to be computed again before {}, but no replay makes it", gaps_[g].block,
                         name(op)));
  }
  take(program_.birth_bytes(op) + program_.op(op).workspace, op, -1, "runs");
  workspace_ = program_.op(op).workspace;
  held_ += workspace_;
  for (BlockId b : program_.op(op).births) {
    set_present(at(live_, b), b, true);
    at(live_, b).content = program_.version_at_birth(b);
    at(host_, b) = -1;
  }
  const auto& accesses = program_.op(op).accesses;
  for (std::size_t i = 0; i < accesses.size(); ++i) use(op, accesses[i], at(expected_, op)[i]);
  for (const OpOutput& output : program_.outputs(op))
    at(live_, program_.version(output.version).block).content = output.version;
}

void ScheduleWalk::use(OpIndex op, const Access& access, VersionId expected) {
  Body& body = at(live_, access.block);
  if (!body.present)
    report(Rule::operand_absent, op, access.block,
           fmt::format("{} uses block {}, which is not there", name(op), access.block));
  else if (body.content != expected)
    report(Rule::wrong_content, op, access.block,
           fmt::format("{} uses block {}, which does not hold the content it had", name(op), access.block));
  body.content = expected;
  if (!access.writes) return;
  body.item = pass_ * items_ + static_cast<std::int64_t>(listed_.size());
  at(host_, access.block) = -1;
  for (GapId g = gaps_.first(access.block); g < gaps_.last(access.block); ++g)
    if (at(crossings_, g).stage == Stage::leaving && kept_.count(g) == 0)
      report(Rule::content_final, op, access.block,
             fmt::format("{} writes block {} while it is copied out", name(op), access.block));
}

// Before the first item of a position: copies that its items wait for have been issued.
void ScheduleWalk::begin_position(OpIndex j) {
  const bool first = listed_.empty() || listed_.back()->kind == CommandKind::run;
  if (first) check_directives(j);
}

void ScheduleWalk::check_directives(OpIndex j) {
  const std::int64_t position = pass_ * n_ + j;
  for (const Wait& wait : at(waits_, j)) {
    const Crossing& crossing = at(crossings_, wait.gap);
    if ((wait.in ? crossing.returned : crossing.begun) >= (position - wait.position) / n_) continue;
    const BlockId block = gaps_[wait.gap].block;
    report(Rule::directive_missed, j, block,
           fmt::format("{} waits for the copy-{} of block {}, which has not been issued", name(j),
                       wait.in ? "in" : "out", block));
  }
}

void ScheduleWalk::begin_replay(std::size_t index) {
  const OpIndex op = commands_[index].op;
  const bool first = listed_.empty() || listed_.back()->kind == CommandKind::run;
  if (first) {
    check_directives(position_);
    last_reader_.clear();
    for (std::size_t i = index; commands_[i].kind != CommandKind::run; ++i)
      if (commands_[i].kind == CommandKind::replay)
        for (VersionId v : program_.inputs(commands_[i].op)) last_reader_[v] = commands_[i].op;
  }
  if (op >= position_ || !program_.op(op).replayable)
    report(Rule::replay_illegal, op, -1,
           fmt::format("{} cannot be replayed before op {}", name(op), position_));
  if (!first && listed_.back()->op >= op)
    report(Rule::replay_illegal, op, -1,
           fmt::format("{} is replayed before op {} out of program order", name(op), position_));
  begin_step(op);
}

void ScheduleWalk::begin_step(OpIndex op) {
  for (VersionId v : program_.inputs(op)) {
    const BlockId block = program_.version(v).block;
    if (!readable(v) && temporaries_.count(v) == 0)
      report(Rule::operand_absent, op, block,
             fmt::format("the replay of {} before op {} reads a content of block {} that is nowhere",
                         name(op), position_, block));
  }
  Bytes allocated = 0;
  for (const OpOutput& output : program_.outputs(op)) {
    const BlockId block = program_.version(output.version).block;
    if (output.replaces < 0) allocated += program_.block(block).bytes;
    if (output.replaces >= 0 && temporaries_.erase(output.replaces) == 0)
      report(Rule::replay_illegal, op, block,
             fmt::format("the replay of {} writes into block {} itself", name(op), block));
    temporaries_[output.version] = program_.block(block).bytes;
  }
  take(allocated + program_.op(op).workspace, op, -1, "is replayed");
  workspace_ = program_.op(op).workspace;
  held_ += allocated + workspace_;
}

// Can a replay read this content from a block that is there?
bool ScheduleWalk::readable(VersionId v) const {
  const BlockId block = program_.version(v).block;
  const Body& body = at(live_, block);
  if (body.present && body.content == v && !leaves_for_good(block)) return true;
  return std::any_of(kept_.begin(), kept_.end(), [&](const auto& kept) {
    return kept.second.content == v && lowered_.plan[kept.first].action == Action::recompute;
  });
}

// A trailing swap may take the block away at any time once its last op has ended.
bool ScheduleWalk::leaves_for_good(BlockId block) const {
  const GapId g = gaps_.last(block) - 1;
  if (g < gaps_.first(block) || gaps_[g].kind != GapKind::trailing || lowered_.plan[g].action != Action::swap)
    return false;
  const auto gone = [&](OpIndex position) { return position > last_present(g) && position < gaps_[g].to; };
  return gone(position_) || gone(position_ + n_);
}

// The absent target at this position that is made of this content, or -1.
GapId ScheduleWalk::target_for(VersionId v) const {
  for (GapId g : at(targets_, position_))
    if (gaps_[g].version == v && !readable(v)) return g;
  return -1;
}

void ScheduleWalk::end_items(std::int32_t count) {
  for (; ended_ < count; ++ended_) {
    const Command& item = *listed_[static_cast<std::size_t>(ended_)];
    held_ -= workspace_;
    workspace_ = 0;
    if (item.kind == CommandKind::run)
      end_op(item.op);
    else
      end_step(item.op);
  }
}

void ScheduleWalk::end_step(OpIndex op) {
  const auto temporaries = temporaries_;
  for (const auto& [version, bytes] : temporaries) {
    const BlockId block = program_.version(version).block;
    const auto reader = last_reader_.find(version);
    if (reader != last_reader_.end() && reader->second > op && !readable(version)) continue;
    const GapId g = target_for(version);
    temporaries_.erase(version);
    held_ -= bytes;
    if (g < 0) continue;
    const bool dead = gaps_[g].kind == GapKind::trailing && position_ >= gaps_[g].to;
    Body& body = dead ? kept_[g] : at(live_, block);
    set_present(body, block, true);
    body.content = version;
    body.item = pass_ * items_ + ended_;
  }
}

void ScheduleWalk::end_op(OpIndex op) {
  for (BlockId b : program_.deaths(op)) die(b);
}

void ScheduleWalk::die(BlockId block) {
  Body& body = at(live_, block);
  const GapId g = gaps_.last(block) > gaps_.first(block) ? gaps_.last(block) - 1 : -1;
  if (body.present && g >= 0 && gaps_[g].kind == GapKind::trailing) {
    const Decision& decision = lowered_.plan[g];
    const bool kept = decision.action == Action::recompute && stay_holds(gaps_[g], decision, gaps_[g].to);
    const bool leaving = decision.action == Action::swap && at(crossings_, g).stage == Stage::leaving;
    if (kept || leaving) {
      kept_[g] = body;
      body = {};
      return;
    }
  }
  set_present(body, block, false);
  body = {};
}

// The life of the block that a recomputed gap is about, where it is dead and not held: nullptr.
ScheduleWalk::Body* ScheduleWalk::find(GapId g) {
  if (const auto kept = kept_.find(g); kept != kept_.end()) return &kept->second;
  const bool dead = gaps_[g].kind == GapKind::trailing && position_ >= gaps_[g].to;
  return dead ? nullptr : &at(live_, gaps_[g].block);
}

// The same content has two names: the last of one iteration, the first of the next.
VersionId ScheduleWalk::across(BlockId block, VersionId v) const {
  return v == at(last_, block) && program_.block(block).lifetime != Lifetime::local ? at(first_, block) : v;
}

void ScheduleWalk::take(Bytes amount, OpIndex op, BlockId block, const char* what) {
  if (held_ + amount <= limit_) return;
  const std::string who = op >= 0 ? name(op) : fmt::format("block {}", block);
  report(Rule::over_limit, op, block,
         fmt::format("{} bytes are held and {} more needed when {} {}, but the limit is {}", held_, amount,
                     who, what, limit_));
}

void ScheduleWalk::set_present(Body& body, BlockId block, bool present) {
  if (body.present != present) held_ += present ? program_.block(block).bytes : -program_.block(block).bytes;
  body.present = present;
}

void ScheduleWalk::report(Rule rule, OpIndex op, BlockId block, std::string sentence) {
  constexpr std::size_t kMost = 16;
  if (judging_ && violations_.size() < kMost) violations_.push_back({rule, op, block, std::move(sentence)});
}

std::string ScheduleWalk::name(OpIndex op) const {
  return fmt::format("op {} '{}'", op, program_.op(op).name);
}

}  // namespace ebb
