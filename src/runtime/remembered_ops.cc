#include "runtime/remembered_ops.h"

#include "plan/program_walk.h"

namespace ebb {

std::vector<bool> remembered_ops(const Program& program, const PreparedPlan& plan,
                                 std::span<const std::vector<BlockId>> targets) {
  std::vector<bool> remembered(program.ops().size(), false);
  Presence presence = presence_at_start(program);
  ReplayBuilder builder(program);
  const auto set = [&](GapId gap, Whereabouts where) {
    const auto block = static_cast<std::size_t>(plan.gaps[gap].block);
    presence.where[block] = where;
    presence.current[block] = plan.gaps[gap].version;
  };
  const auto remember = [&](std::span<const OpIndex> ops) {
    for (const OpIndex op : ops) remembered[static_cast<std::size_t>(op)] = true;
  };
  std::size_t step = 0;
  for (const Command& command : plan.schedule.commands) {
    switch (command.kind) {
      case CommandKind::run:
        advance(program, command.op, presence);
        break;
      case CommandKind::replay:
        remember({&command.op, 1});
        for (const BlockId block : targets[static_cast<std::size_t>(plan.lowered.replays[step++].before)])
          presence.where[static_cast<std::size_t>(block)] = Whereabouts::resident;
        break;
      case CommandKind::start_out:
        break;
      case CommandKind::release:
        set(command.gap, Whereabouts::on_host);
        break;
      case CommandKind::start_in:
        set(command.gap, Whereabouts::resident);
        break;
      case CommandKind::drop:
        if (plan.lowered.plan[command.gap].action == Action::recompute) {
          set(command.gap, Whereabouts::dropped);
          const VersionId dropped = plan.gaps[command.gap].version;
          if (builder.collect(presence, {&dropped, 1})) remember(builder.ops());
        } else {
          set(command.gap, Whereabouts::on_host);
        }
        break;
    }
  }
  return remembered;
}

}  // namespace ebb
