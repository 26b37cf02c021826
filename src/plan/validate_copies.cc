#include <fmt/format.h>

#include "plan/validate_walk.h"

namespace ebb {

// Has the op, counted over all passes, ended when the command takes effect?
bool ScheduleWalk::has_ended(const Command& command, std::int64_t op) const {
  if (op < 0) return true;
  return pass_ * items_ + command.ended > op / n_ * items_ + at(item_of_op_, static_cast<OpIndex>(op % n_));
}

// The iteration of the gap that a copy-out or clean leave is about: the first whose end still lies ahead.
std::int64_t ScheduleWalk::instance(const Command& command) const {
  const Gap& gap = gaps_[command.gap];
  std::int64_t k = pass_ - 2;
  if (gap.kind == GapKind::trailing)
    while (has_ended(command, k * n_ + gap.to - 1)) ++k;
  else
    while (k * n_ + gap.to < pass_ * n_ + position_) ++k;
  return k;
}

void ScheduleWalk::start_out(const Command& command) {
  const GapId g = command.gap;
  const BlockId block = gaps_[g].block;
  const Body& body = at(live_, block);
  Crossing& crossing = at(crossings_, g);
  const std::int64_t k = instance(command);
  if (!body.present || crossing.stage != Stage::here)
    report(Rule::operand_absent, gaps_[g].from, block,
           fmt::format("block {} is copied out but is not there", block));
  else if (across(block, body.content) != across(block, gaps_[g].version) ||
           body.item >= pass_ * items_ + command.ended)
    report(Rule::content_final, gaps_[g].from, block,
           fmt::format("block {} is copied out before its content is final", block));
  else if (!has_ended(command, k * n_ + swap_of(g).out_after))
    report(Rule::content_final, gaps_[g].from, block,
           fmt::format("block {} is copied out before op {} has ended", block, swap_of(g).out_after));
  const auto place = k * static_cast<std::int64_t>(lowered_.outs.size()) + at(out_rank_, g);
  if (place <= last_out_)
    report(Rule::link_order, gaps_[g].from, block, fmt::format("block {} is copied out of turn", block));
  last_out_ = place;
  at(host_, block) = body.content;
  crossing.stage = Stage::leaving;
  crossing.begun = k;
}

void ScheduleWalk::release(const Command& command) {
  const GapId g = command.gap;
  const BlockId block = gaps_[g].block;
  Crossing& crossing = at(crossings_, g);
  if (crossing.stage != Stage::leaving) {
    report(Rule::release_order, gaps_[g].from, block,
           fmt::format("block {} is released before its copy-out has begun", block));
    return;
  }
  if (!has_ended(command, crossing.begun * n_ + last_present(g)))
    report(Rule::release_order, gaps_[g].from, block,
           fmt::format("block {} is released before {} has ended", block, name(last_present(g))));
  const auto dead = kept_.find(g);
  set_present(dead != kept_.end() ? dead->second : at(live_, block), block, false);
  if (dead != kept_.end()) kept_.erase(dead);
  crossing.stage = gaps_[g].kind == GapKind::trailing ? Stage::here : Stage::away;
}

void ScheduleWalk::start_in(const Command& command) {
  const GapId g = command.gap;
  const BlockId block = gaps_[g].block;
  const Swap& swap = swap_of(g);
  Crossing& crossing = at(crossings_, g);
  const OpIndex next = (swap.needed_at % n_ + n_) % n_;
  if (crossing.stage != Stage::away)
    report(Rule::return_order, next, block, fmt::format("block {} is copied in before it has left", block));
  else if (!has_ended(command, crossing.begun * n_ + swap.in_from - 1))
    report(Rule::return_order, next, block,
           fmt::format("block {} is copied in before position {}", block, swap.in_from));
  if (command.ended + 1 < static_cast<std::int32_t>(listed_.size()))
    report(Rule::return_order, next, block,
           fmt::format("block {} is copied in behind items it does not wait for", block));
  const std::int64_t iteration = crossing.begun + (swap.needed_at >= n_ ? 1 : 0);
  const auto place = iteration * static_cast<std::int64_t>(lowered_.ins.size()) + at(in_rank_, g);
  if (place <= last_in_)
    report(Rule::link_order, next, block, fmt::format("block {} is copied in out of turn", block));
  last_in_ = place;
  take(swap.bytes, kNoOp, block, "returns");
  Body& body = at(live_, block);
  set_present(body, block, true);
  body.content = at(host_, block);
  crossing.stage = Stage::here;
  crossing.returned = crossing.begun;
}

void ScheduleWalk::drop(const Command& command) {
  const GapId g = command.gap;
  const BlockId block = gaps_[g].block;
  if (lowered_.plan[g].action == Action::swap) return drop_clean(command);
  const std::vector<OpIndex> ops = drop_ops(gaps_[g], lowered_.plan[g]);
  const OpIndex after = ops[std::min(drops_done_[g]++, ops.size() - 1)];
  Body* body = find(g);
  if (body == nullptr || !body->present) {
    report(Rule::drop_illegal, after, block, fmt::format("block {} is dropped but is not there", block));
    return;
  }
  if (!has_ended(command, pass_ * n_ + after))
    report(Rule::drop_illegal, after, block,
           fmt::format("block {} is dropped before {} has ended", block, name(after)));
  set_present(*body, block, false);
  kept_.erase(g);
}

void ScheduleWalk::drop_clean(const Command& command) {
  const GapId g = command.gap;
  const BlockId block = gaps_[g].block;
  Body& body = at(live_, block);
  Crossing& crossing = at(crossings_, g);
  crossing.begun = instance(command);
  if (!body.present || crossing.stage != Stage::here)
    report(Rule::drop_illegal, gaps_[g].from, block, fmt::format("block {} leaves but is not there", block));
  else if (!has_ended(command, crossing.begun * n_ + last_present(g)))
    report(Rule::drop_illegal, gaps_[g].from, block,
           fmt::format("block {} leaves before {} has ended", block, name(last_present(g))));
  else if (at(host_, block) != body.content)
    report(Rule::wrong_content, gaps_[g].from, block,
           fmt::format("block {} leaves as clean, but the host holds another content", block));
  set_present(body, block, false);
  crossing.stage = gaps_[g].kind == GapKind::trailing ? Stage::here : Stage::away;
}

}  // namespace ebb
