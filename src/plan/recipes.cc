#include "plan/recipes.h"

#include "plan/program_walk.h"
#include "plan/replay_builder.h"

namespace ebb {

bool changed_by_side_effect(const Program& program, const Gap& gap) {
  for (const BlockAccess& access : program.accesses(gap.block))
    if (access.writes && access.version == gap.version && program.version(gap.version).writer != access.op)
      return true;
  return false;
}

std::vector<Recipe> find_recipes(const Program& program, const Gaps& gaps) {
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
  }
  return recipes;
}

}  // namespace ebb
