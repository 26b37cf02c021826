#include "plan/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/validate_walk.h"

namespace ebb {
namespace {

std::string name(const Program& program, OpIndex op) {
  return fmt::format("op {} '{}'", op, program.op(op).name);
}

// Every op once and in order; every command names something that exists and waits for what is listed before
// it.
std::vector<Violation> check_items(const Program& program, const Gaps& gaps, const Schedule& schedule) {
  OpIndex next = 0;
  std::int32_t listed = 0;
  const auto bad = [](OpIndex op, std::string sentence) {
    return std::vector<Violation>{{Rule::op_order, op, -1, std::move(sentence)}};
  };
  for (const Command& command : schedule.commands) {
    const bool item = command.kind == CommandKind::run || command.kind == CommandKind::replay;
    if (item && (command.op < 0 || command.op >= program.op_count()))
      return bad(command.op, fmt::format("there is no op {}", command.op));
    if (!item && (command.gap < 0 || command.gap >= gaps.count()))
      return bad(kNoOp, fmt::format("there is no gap {}", command.gap));
    if (command.kind == CommandKind::run && command.op != next)
      return bad(command.op, fmt::format("{} runs where op {} is due", name(program, command.op), next));
    if (command.kind == CommandKind::replay && next == program.op_count())
      return bad(command.op, fmt::format("{} is replayed after the last op", name(program, command.op)));
    if (command.ended < 0 || command.ended > listed || (item && command.ended != listed))
      return bad(command.op, fmt::format("a command waits for {} items, but {} are listed before it",
                                         command.ended, listed));
    if (command.kind == CommandKind::run) ++next;
    if (item) ++listed;
  }
  if (next != program.op_count()) return bad(next, fmt::format("{} never runs", name(program, next)));
  return {};
}

struct CommandCount {
  int outs = 0;
  int releases = 0;
  int ins = 0;
  int drops = 0;
  bool operator==(const CommandCount&) const = default;
};

CommandCount expected_count(const Gap& gap, const Decision& decision, const Swap* swap, bool skipped) {
  const bool trailing = gap.kind == GapKind::trailing;
  CommandCount count;
  if (decision.action == Action::recompute) {
    count.drops = static_cast<int>(ScheduleWalk::drop_ops(gap, decision).size());
  } else if (decision.action == Action::swap && swap->clean) {
    const bool leaves_by_dying = trailing && std::max(gap.from, swap->out_after) == gap.to - 1;
    count.drops = leaves_by_dying ? 0 : 1;
    count.ins = trailing ? 0 : 1;
  } else if (decision.action == Action::swap) {
    count.outs = count.releases = skipped ? 0 : 1;
    count.ins = trailing ? 0 : 1;
  }
  return count;
}

std::vector<Violation> check_counts(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                                    const Schedule& schedule) {
  std::vector<CommandCount> found(static_cast<std::size_t>(gaps.count()));
  for (const Command& command : schedule.commands) {
    if (command.kind == CommandKind::run || command.kind == CommandKind::replay) continue;
    CommandCount& count = found[static_cast<std::size_t>(command.gap)];
    count.outs += command.kind == CommandKind::start_out;
    count.releases += command.kind == CommandKind::release;
    count.ins += command.kind == CommandKind::start_in;
    count.drops += command.kind == CommandKind::drop;
  }
  std::vector<const Swap*> swap_of(found.size(), nullptr);
  for (const Swap& swap : lowered.swaps) swap_of[static_cast<std::size_t>(swap.gap)] = &swap;
  std::vector<Violation> violations;
  for (GapId g = 0; g < gaps.count(); ++g) {
    const Gap& gap = gaps[g];
    const CommandCount& have = found[static_cast<std::size_t>(g)];
    const bool skipped = gap.kind == GapKind::trailing && have.outs == 0;  // it died before its turn
    const CommandCount want =
        expected_count(gap, lowered.plan[g], swap_of[static_cast<std::size_t>(g)], skipped);
    if (have == want) continue;
    violations.push_back(
        {Rule::command_count, gap.from, gap.block,
         fmt::format(
             "block {} after {} has {} copy-outs, {} releases, {} copy-ins and {} drops, the plan asks for "
             "{}, {}, {} and {}",
             gap.block, name(program, gap.from), have.outs, have.releases, have.ins, have.drops, want.outs,
             want.releases, want.ins, want.drops)});
  }
  return violations;
}

}  // namespace

std::vector<Violation> validate(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                                const Schedule& schedule, Bytes limit) {
  if (auto violations = validate(program, gaps, lowered); !violations.empty()) return violations;
  if (auto violations = check_items(program, gaps, schedule); !violations.empty()) return violations;
  if (auto violations = check_counts(program, gaps, lowered, schedule); !violations.empty())
    return violations;
  return ScheduleWalk(program, gaps, lowered, schedule, limit).judge();
}

}  // namespace ebb
