#include "runtime/follower.h"

#include <algorithm>
#include <tuple>

#include "plan/stays.h"
#include "runtime/remembered_ops.h"

namespace ebb {

namespace {

constexpr std::int64_t kFewSurprises = 64;  // one in so many ops: then what has to leave is copied

// The positions at which a replay brings the gap's block back.
std::vector<OpIndex> replayed_at(const Gap& gap, const Decision& decision) {
  std::vector<OpIndex> positions;
  if (decision.action != Action::recompute || !decision.stays) return positions;
  bool reaches_the_end = false;
  for (const OpRange& stay : *decision.stays) {
    if (stay.begin != gap.from + 1) positions.push_back(stay.begin);
    reaches_the_end = reaches_the_end || stay.end == gap.to;
  }
  if (gap.kind != GapKind::trailing && !reaches_the_end) positions.push_back(gap.to);
  return positions;
}

SurpriseKind kind_of(CommandKind left_out) {
  switch (left_out) {
    case CommandKind::start_out:
      return SurpriseKind::not_copied;
    case CommandKind::release:
      return SurpriseKind::not_released;
    case CommandKind::start_in:
      return SurpriseKind::not_returned;
    default:
      return SurpriseKind::not_dropped;
  }
}

}  // namespace

Follower::Follower(const RuntimeParts& parts, Remaker& remaker, const Tracker& tracker, OpTimer& timer,
                   std::shared_ptr<const PreparedPlan> plan)
    : parts_(parts),
      remaker_(remaker),
      tracker_(tracker),
      timer_(timer),
      plan_(std::move(plan)),
      program_(tracker.iteration().program),
      commands_(plan_->schedule.commands),
      runs_(program_.ops().size() + 1),
      targets_(program_.ops().size()),
      first_step_(program_.ops().size(), -1),
      kept_until_(program_.blocks().size(), 0),
      surprises_(parts.pager.surprises().count()) {
  std::int32_t items = 0;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const auto op = static_cast<std::size_t>(commands_[i].op);
    if (commands_[i].kind == CommandKind::run) runs_[op] = {.command = i, .items_before = items};
    items += commands_[i].kind == CommandKind::run || commands_[i].kind == CommandKind::replay;
  }
  for (GapId g = 0; g < plan_->gaps.count(); ++g)
    if (kept_past_death(plan_->gaps[g], plan_->lowered.plan[g]))
      kept_until_[static_cast<std::size_t>(plan_->gaps[g].block)] = commands_.size();
  for (std::size_t i = 0; i < commands_.size(); ++i)
    if (commands_[i].kind == CommandKind::drop) {
      std::size_t& until = kept_until_[static_cast<std::size_t>(plan_->gaps[commands_[i].gap].block)];
      if (until > 0 && plan_->gaps[commands_[i].gap].kind == GapKind::trailing) until = i;
    }
  for (GapId g = 0; g < plan_->gaps.count(); ++g)
    for (const OpIndex position : replayed_at(plan_->gaps[g], plan_->lowered.plan[g]))
      if (position < program_.op_count())
        targets_[static_cast<std::size_t>(position)].push_back(plan_->gaps[g].block);
  const std::vector<ReplayStep>& steps = plan_->lowered.replays;
  const std::vector<bool> remembered = remembered_ops(program_, *plan_, targets_);
  for (OpIndex op = 0; op < program_.op_count(); ++op) {
    runs_[static_cast<std::size_t>(op)].remembered = remembered[static_cast<std::size_t>(op)];
    list_rooms(op);
    runs_[static_cast<std::size_t>(op) + 1].first_room = static_cast<std::int32_t>(rooms_.size());
  }
  for (std::size_t k = steps.size(); k-- > 0;)
    first_step_[static_cast<std::size_t>(steps[k].before)] = static_cast<std::int32_t>(k);
  first_place_.push_back(0);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    list_replay_places(k);
    first_place_.push_back(static_cast<std::int32_t>(replay_places_.size()));
  }
  parts_.pager.keep_low_end_for_plan(true);
}

Follower::~Follower() {
  let_all_go();
  parts_.pager.keep_low_end_for_plan(false);
  for (BlockId b = 0; b < program_.block_count(); ++b)
    if (PagedBlock* block = tracker_.bound(b)) block->home = kAnywhere;
}

void Follower::settle() {
  settled_ = true;
  std::vector<PagedBlock*> misplaced;
  for (const auto& [offset, block] : parts_.pager.residents()) {
    const BlockId id = tracker_.block_of(*block);
    const Bytes home = id < 0 ? kAnywhere : plan_->offsets.at_boundary[static_cast<std::size_t>(id)];
    const bool in_the_way = offset < plan_->offsets.footprint;
    if (parts_.pager.may_be_elsewhere(*block) && (home == kAnywhere ? in_the_way : offset != home))
      misplaced.push_back(block);
  }
  for (PagedBlock* block : misplaced) try {
      if (!parts_.pager.send_out(*block)) ++left_out_;
    } catch (const BackendError&) {
      ++left_out_;
    }
  for (BlockId b = 0; b < program_.block_count(); ++b) {
    PagedBlock* block = tracker_.bound(b);
    const Bytes home = plan_->offsets.at_boundary[static_cast<std::size_t>(b)];
    if (!block || home == layout::kUnplanned) continue;
    block->home = home;
    if (block->resident() || block->dropped() || !block->has_bytes()) continue;
    try {
      if (!parts_.pager.bring_in_at(*block, home)) ++left_out_;
    } catch (const BackendError&) {
      ++left_out_;
    }
  }
}

void Follower::iteration_ended() {
  let_all_go();
  const std::int64_t surprises = parts_.pager.surprises().count();
  const bool many = (surprises - surprises_) * kFewSurprises > program_.op_count();
  settled_ = surprises == surprises_;
  anyone_replays_ = many || parts_.pager.host().may_refuse(program_.peak_demand());
  surprises_ = surprises;
}

void Follower::issue_until(OpIndex op) {
  const std::size_t command = run(op).command;
  if (next_ > command) {
    // The iteration ended as planned: what is left of it belongs before the next. Else it is void.
    const bool ended = next_ > run(program_.op_count() - 1).command;
    while (ended && next_ < commands_.size()) issue(commands_[next_++]);
    let_all_go();
    next_ = step_ = 0;
    replayed_ = kNoOp;
  }
  if (next_ == 0 && !settled_) settle();
  while (next_ < command) issue(commands_[next_++]);
}

void Follower::issue_beside(OpIndex op) {
  const std::int32_t ended = run(op).items_before;
  next_ = run(op).command + 1;
  for (; next_ < commands_.size(); ++next_) {
    const Command& command = commands_[next_];
    if (command.kind == CommandKind::run || command.kind == CommandKind::replay || command.ended > ended)
      return;
    issue(command);
  }
}

void Follower::issue(const Command& command) {
  current_gap_ = command.gap;
  bool done = false;
  try {
    done = carry_out(command);
  } catch (...) {
    // A copy or a replayed function failed: it shows again, to whom it may concern, when the block is needed.
  }
  if (!done) leave_out(command);
  current_gap_ = -1;
}

void Follower::leave_out(const Command& command) {
  ++left_out_;
  const PagedBlock* block = command.gap < 0 ? nullptr : block_of(command.gap);
  if (!block) return;
  const bool returns = command.kind == CommandKind::start_in;
  const Bytes wanted = returns ? plan_->offsets.returns[static_cast<std::size_t>(command.gap)] : -1;
  parts_.pager.surprises().add({.kind = kind_of(command.kind),
                                .at = parts_.statistics.ops,
                                .bytes = block->bytes,
                                .offset = block->resident() ? block->at.region.offset : -1,
                                .wanted = wanted,
                                .wanted_end = returns ? arena_end(wanted, block->bytes) : -1});
}

bool Follower::carry_out(const Command& command) {
  switch (command.kind) {
    case CommandKind::run:
      return true;  // skipped by the program
    case CommandKind::replay:
      replay(plan_->lowered.replays[step_++].before);
      return true;
    case CommandKind::start_out:
      return copy_out(command.gap);
    case CommandKind::release:
      return release(command.gap);
    case CommandKind::start_in:
      return bring_in(command.gap);
    case CommandKind::drop:
      return drop(command.gap);
  }
  return true;
}

PagedBlock* Follower::block_of(GapId gap) const { return tracker_.bound(plan_->gaps[gap].block); }

bool Follower::copy_out(GapId gap) {
  PagedBlock* block = block_of(gap);
  if (!block || block->freed) return true;  // freed earlier than planned
  if (!block->resident() || block->changing > 0) return false;
  return block->clean() || parts_.pager.start_copy_out(*block);
}

bool Follower::release(GapId gap) {
  PagedBlock* block = block_of(gap);
  if (!block || block->freed) return true;
  block->home = plan_->offsets.returns[static_cast<std::size_t>(gap)];
  if (!block->resident()) return true;  // it left before
  return block->pins == 0 && parts_.pager.send_out(*block);
}

bool Follower::bring_in(GapId gap) {
  PagedBlock* block = block_of(gap);
  if (!block || block->freed) return true;
  const Bytes offset = plan_->offsets.returns[static_cast<std::size_t>(gap)];
  block->home = offset;
  if (block->resident()) return block->at.region.offset == offset;
  if (block->at.place != Residence::Place::host || offset == layout::kUnplanned) return false;
  return parts_.pager.bring_in_at(*block, offset);
}

bool Follower::keeps_freed(PagedBlock& block) {
  const BlockId id = tracker_.block_of(block);
  const std::size_t until = id < 0 ? 0 : kept_until_[static_cast<std::size_t>(id)];
  if (until == 0 || until < next_ || !block.has_bytes()) return false;
  if (tracker_.last() != program_.block(id).death) return false;  // freed where the plan does not expect it
  held_.push_back({id, &block, BlockHold(block, &PagedBlock::keeps)});
  return true;
}

bool Follower::let_go(BlockId block) {
  const auto it =
      std::find_if(held_.begin(), held_.end(), [&](const HeldBlock& held) { return held.id == block; });
  if (it == held_.end()) return false;
  PagedBlock& freed = *it->block;
  held_.erase(it);
  parts_.lifetimes.let_go(freed);
  return true;
}

void Follower::let_all_go() {
  while (!held_.empty()) let_go(held_.back().id);
}

bool Follower::drop(GapId gap) {
  if (let_go(plan_->gaps[gap].block)) return true;
  PagedBlock* block = block_of(gap);
  if (!block || block->freed) return true;
  const Decision& decision = plan_->lowered.plan[gap];
  block->home =
      decision.action == Action::swap ? plan_->offsets.returns[static_cast<std::size_t>(gap)] : kAnywhere;
  if (!block->resident()) return true;
  if (block->pins > 0) return false;
  if (decision.action == Action::recompute && parts_.pager.drop(*block)) return true;
  return parts_.pager.send_out(*block) && decision.action == Action::swap;
}

void Follower::replay(OpIndex position) {
  if (replayed_ == position) return;  // a step of a replay that ran as a whole
  replayed_ = replaying_ = position;
  struct End {
    OpIndex& replaying;
    ~End() { replaying = kNoOp; }
  } end{replaying_};
  remade_.clear();
  for (const BlockId id : targets_[static_cast<std::size_t>(position)])
    if (PagedBlock* block = tracker_.bound(id); block && block->dropped()) remade_.push_back(block);
  if (remade_.empty()) return;
  if (!parts_.guide.wants_exact_times) return remaker_.remake(remade_);
  const std::int64_t before = parts_.statistics.replays;
  const Nanoseconds begin = timer_.now();
  remaker_.remake(remade_);
  timer_.host_pace().add_replays(parts_.statistics.replays - before, timer_.now() - begin);
}

bool Follower::is_target(BlockId block, OpIndex position) const {
  const std::vector<BlockId>& targets = targets_[static_cast<std::size_t>(position)];
  return std::find(targets.begin(), targets.end(), block) != targets.end();
}

std::optional<std::size_t> Follower::planned_step(const Step& step) const {
  if (replaying_ == kNoOp || step.planned_op == kNoOp) return std::nullopt;
  const std::vector<ReplayStep>& steps = plan_->lowered.replays;
  auto k = static_cast<std::size_t>(first_step_[static_cast<std::size_t>(replaying_)]);
  while (k < steps.size() && steps[k].before == replaying_ && steps[k].op != step.planned_op) ++k;
  if (k >= steps.size() || steps[k].before != replaying_) return std::nullopt;
  return k;
}

bool Follower::keeps_replayed(const Step& step, const PagedBlock& block) const {
  const BlockId id = tracker_.block_of(block);
  return id < 0 || !planned_step(step) || is_target(id, replaying_);
}

void Follower::list_rooms(OpIndex op) {
  const auto add = [&](BlockId block, Bytes offset, Bytes bytes) {
    if (bytes == 0) return;
    rooms_.push_back({block, offset == layout::kUnplanned ? PlannedPlace{}
                                                          : PlannedPlace{offset, arena_end(offset, bytes)}});
  };
  const std::vector<BlockId>& births = program_.op(op).births;
  for (std::size_t k = 0; k < births.size(); ++k)
    add(births[k], plan_->offsets.births.offset(op, static_cast<int>(k)), program_.block(births[k]).bytes);
  add(kInsideOnly, plan_->offsets.workspaces[static_cast<std::size_t>(op)], program_.op(op).workspace);
}

void Follower::list_replay_places(std::size_t step) {
  const OpIndex op = plan_->lowered.replays[step].op;
  const auto outputs = program_.outputs(op);
  const auto place = [&](const ScriptMalloc& malloc) -> PlannedPlace {
    Bytes offset = layout::kUnplanned;
    if (malloc.block < 0) {
      offset = plan_->offsets.replay_workspaces[step];
      if (offset == layout::kUnplanned) return {};
      return {offset, arena_end(offset, program_.op(op).workspace)};
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (program_.version(outputs[i].version).block == malloc.block) {
        offset = plan_->offsets.replays.offset(static_cast<OpIndex>(step), static_cast<int>(i));
        break;
      }
    if (offset == layout::kUnplanned || malloc.bytes == 0) return {};
    return {offset, arena_end(offset, malloc.bytes)};
  };
  const auto& mallocs = tracker_.iteration().script[static_cast<std::size_t>(op)].mallocs;
  std::size_t first = 0;
  while (first < mallocs.size() && !mallocs[first].inside) ++first;
  for (std::size_t i = first; i < mallocs.size(); ++i) replay_places_.push_back(place(mallocs[i]));
}

bool Follower::make_room(OpIndex op) {
  for (const PlannedRoom& room : rooms(op)) {
    const PagedBlock* block = room.block < 0 ? nullptr : tracker_.bound(room.block);
    if (block && block->resident()) continue;  // malloc'd before the op
    if (!room.place.planned() || !parts_.pager.clear(room.place.begin, room.place.end)) return false;
  }
  return true;
}

bool Follower::make_room_for(const Step& replayed) {
  if (!planned_step(replayed)) return false;
  for (std::size_t nth = 0; nth < replayed.births.size(); ++nth) {
    if (replayed.births[nth].bytes == 0) continue;
    const PlannedPlace place = place_of_replayed(replayed, nth);
    if (!place.planned() || !parts_.pager.clear(place.begin, place.end)) return false;
  }
  return true;
}

PlannedPlace Follower::place_of(const ScriptMalloc& malloc, OpIndex op) const {
  for (const PlannedRoom& room : rooms(op))
    if (room.block == malloc.block) return room.place;
  return {};
}

PlannedPlace Follower::place_of_replayed(const Step& step, std::size_t nth) const {
  const std::optional<std::size_t> k = planned_step(step);
  if (!k) return {};
  const std::size_t at = static_cast<std::size_t>(first_place_[*k]) + nth;
  return at < static_cast<std::size_t>(first_place_[*k + 1]) ? replay_places_[at] : PlannedPlace{};
}

}  // namespace ebb
