#include "layout/planned_offsets.h"

#include <algorithm>

namespace ebb::layout {
namespace {

int index_of(std::span<const BlockId> list, BlockId block) {
  return static_cast<int>(std::find(list.begin(), list.end(), block) - list.begin());
}

// Replay steps by (position, op), as residencies name them.
std::size_t step_of(const LoweredPlan& lowered, OpIndex before, OpIndex op) {
  const auto it = std::find_if(lowered.replays.begin(), lowered.replays.end(), [&](const ReplayStep& step) {
    return step.before == before && step.op == op;
  });
  return static_cast<std::size_t>(it - lowered.replays.begin());
}

// A table wants every nth up to the highest; what takes no memory may be anywhere.
void fill_up(std::vector<PlannedMalloc>& mallocs, OpIndex op, std::size_t count,
             const std::vector<bool>& placed) {
  for (std::size_t nth = 0; nth < count; ++nth)
    if (!placed[nth]) mallocs.push_back({op, static_cast<int>(nth), 0});
}

}  // namespace

PlannedOffsets planned_offsets(const Program& program, const Gaps& gaps, const LoweredPlan& lowered,
                               const ArenaProblem& arena, const Layout& layout, Bytes ground) {
  PlannedOffsets offsets;
  offsets.footprint = layout.footprint + ground;
  offsets.returns.assign(static_cast<std::size_t>(gaps.count()), kUnplanned);
  offsets.at_boundary.assign(program.blocks().size(), kUnplanned);
  offsets.workspaces.assign(program.ops().size(), kUnplanned);
  offsets.replay_workspaces.assign(lowered.replays.size(), kUnplanned);
  std::vector<std::vector<bool>> born, made;
  for (const Op& op : program.ops()) born.emplace_back(op.births.size(), false);
  for (const ReplayStep& step : lowered.replays) made.emplace_back(program.outputs(step.op).size(), false);
  std::vector<PlannedMalloc> births, replays;
  for (std::size_t i = 0; i < arena.residencies.size(); ++i) {
    const Residency& residency = arena.residencies[i];
    const Bytes offset = layout.offsets[i] + ground;
    const Buffer& buffer = arena.problem.buffers[i];
    if (residency.block >= 0 && buffer.end > *arena.problem.period)
      offsets.at_boundary[static_cast<std::size_t>(residency.block)] = offset;
    const bool replayed = residency.before != kNoOp;
    const std::size_t step = replayed ? step_of(lowered, residency.before, residency.op) : 0;
    switch (residency.taken_by) {
      case TakenBy::already_there:
        offsets.at_boundary[static_cast<std::size_t>(residency.block)] = offset;
        break;
      case TakenBy::copy_in:
        offsets.returns[static_cast<std::size_t>(residency.gap)] = offset;
        break;
      case TakenBy::workspace:
        (replayed ? offsets.replay_workspaces[step]
                  : offsets.workspaces[static_cast<std::size_t>(residency.op)]) = offset;
        break;
      case TakenBy::birth: {
        const int nth = index_of(program.op(residency.op).births, residency.block);
        born[static_cast<std::size_t>(residency.op)][static_cast<std::size_t>(nth)] = true;
        births.push_back({residency.op, nth, offset});
        break;
      }
      case TakenBy::replay: {
        const auto outputs = program.outputs(residency.op);
        const auto it = std::find_if(outputs.begin(), outputs.end(), [&](const OpOutput& output) {
          return program.version(output.version).block == residency.block;
        });
        made[step][static_cast<std::size_t>(it - outputs.begin())] = true;
        replays.push_back({static_cast<OpIndex>(step), static_cast<int>(it - outputs.begin()), offset});
        break;
      }
    }
  }
  for (std::size_t i = 0; i < born.size(); ++i)
    fill_up(births, static_cast<OpIndex>(i), born[i].size(), born[i]);
  for (std::size_t i = 0; i < made.size(); ++i)
    fill_up(replays, static_cast<OpIndex>(i), made[i].size(), made[i]);
  offsets.births = ReplayTable(program.op_count(), std::move(births));
  offsets.replays = ReplayTable(static_cast<OpIndex>(lowered.replays.size()), std::move(replays));
  return offsets;
}

}  // namespace ebb::layout
