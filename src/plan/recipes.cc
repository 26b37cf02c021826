#include "plan/recipes.h"

#include <algorithm>

#include "plan/program_walk.h"
#include "plan/replay_builder.h"

namespace ebb {

bool changed_by_side_effect(const Program& program, const Gap& gap) {
  for (const BlockAccess& access : program.accesses(gap.block))
    if (access.writes && access.version == gap.version && program.version(gap.version).writer != access.op)
      return true;
  return false;
}

std::vector<Recipe> find_recipes(const Program& program, const Gaps& gaps,
                                 std::span<const BlockId> outliving) {
  const OpIndex n = program.op_count();
  std::vector<std::vector<GapId>> due(program.ops().size());
  for (GapId g = 0; g < gaps.count(); ++g) {
    const OpIndex at = gaps[g].kind == GapKind::trailing ? gaps[g].to - 1 : gaps[g].to;
    if (at < n) due[static_cast<std::size_t>(at)].push_back(g);
  }
  std::vector<Recipe> recipes(static_cast<std::size_t>(gaps.count()));
  ReplayBuilder builder(program);
  Presence presence = presence_at_start(program);
  for (OpIndex j = 0; j < n; ++j) {
    for (GapId g : due[static_cast<std::size_t>(j)]) {
      const auto b = static_cast<std::size_t>(gaps[g].block);
      const VersionId wanted = gaps[g].version;
      // A trailing gap without an op in it is judged as if its block had just been dropped.
      const Whereabouts before = presence.where[b];
      const VersionId current = presence.current[b];
      presence.where[b] = Whereabouts::dropped;
      presence.current[b] = wanted;
      Recipe& recipe = recipes[static_cast<std::size_t>(g)];
      if (gaps[g].from < j && !changed_by_side_effect(program, gaps[g]) &&
          builder.collect(presence, {&wanted, 1})) {
        recipe.remakable = true;
        recipe.ops.assign(builder.ops().begin(), builder.ops().end());
        for (OpIndex op : recipe.ops) recipe.duration += program.op(op).duration;
      }
      presence.where[b] = before;
      presence.current[b] = current;
    }
    advance(program, j, presence);
    for (BlockId b : outliving)
      if (program.block(b).death == j) presence.where[static_cast<std::size_t>(b)] = Whereabouts::resident;
  }
  return recipes;
}

// A content that is gone stays gone, so each can be had, there or made again, up to some position: the last
// one at which it is there, or at which everything its writer reads can be had.
std::vector<char> find_remakable(const Program& program, const Gaps& gaps) {
  const OpIndex n = program.op_count();
  std::vector<OpIndex> there_until(program.versions().size(), n);
  Presence presence = presence_at_start(program);
  for (OpIndex j = 0; j < n; ++j) {
    auto ends = [&](BlockId b) {
      OpIndex& until = there_until[static_cast<std::size_t>(presence.current[static_cast<std::size_t>(b)])];
      until = std::min(until, j);
    };
    for (const OpOutput& output : program.outputs(j)) ends(program.version(output.version).block);
    run_op(program, j, presence);
    for (BlockId b : program.deaths(j)) ends(b);
  }
  std::vector<OpIndex> had_until = there_until;
  auto made_until = [&](VersionId v) {
    const OpIndex writer = program.version(v).writer;
    if (writer < 0 || !program.op(writer).replayable) return kNoOp;
    OpIndex until = n;
    for (VersionId input : program.inputs(writer))
      until = std::min(until, had_until[static_cast<std::size_t>(input)]);
    return until;
  };
  for (OpIndex j = 0; j < n; ++j)
    for (const OpOutput& output : program.outputs(j)) {
      OpIndex& until = had_until[static_cast<std::size_t>(output.version)];
      until = std::max(until, made_until(output.version));
    }
  std::vector<char> remakable(static_cast<std::size_t>(gaps.count()), 0);
  for (GapId g = 0; g < gaps.count(); ++g) {
    const Gap& gap = gaps[g];
    const OpIndex at = gap.kind == GapKind::trailing ? gap.to - 1 : gap.to;
    remakable[static_cast<std::size_t>(g)] =
        at < n && gap.from < at && made_until(gap.version) >= at && !changed_by_side_effect(program, gap);
  }
  return remakable;
}

}  // namespace ebb
