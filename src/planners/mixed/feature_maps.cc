#include "planners/mixed/feature_maps.h"

#include <algorithm>

#include "plan/recipes.h"
#include "plan/turn.h"

namespace ebb {
namespace {

bool reads_at(const Program& program, BlockId block, OpIndex op) {
  const auto accesses = program.accesses(block);
  return std::any_of(accesses.begin(), accesses.end(),
                     [&](const BlockAccess& access) { return access.op == op && access.reads; });
}

}  // namespace

std::vector<FeatureMap> find_feature_maps(const Program& program, const Gaps& gaps) {
  const OpIndex turn = find_turn(program);
  const std::vector<Recipe> recipes = find_recipes(program, gaps);
  std::vector<FeatureMap> maps;
  for (GapId g = 0; g < gaps.count(); ++g) {
    const Gap& gap = gaps[g];
    const Block& block = program.block(gap.block);
    if (gap.kind != GapKind::between || gap.from >= turn || gap.to < turn) continue;
    if (block.lifetime != Lifetime::local || !reads_at(program, gap.block, gap.to)) continue;
    const Recipe& recipe = recipes[static_cast<std::size_t>(g)];
    maps.push_back({.gap = g,
                    .block = gap.block,
                    .bytes = block.bytes,
                    .maker = program.version(gap.version).writer,
                    .remakable = recipe.remakable,
                    .remaking = recipe.duration,
                    .ops = recipe.ops});
  }
  std::stable_sort(maps.begin(), maps.end(), [&](const FeatureMap& a, const FeatureMap& b) {
    return gaps[a.gap].from < gaps[b.gap].from;
  });
  return maps;
}

}  // namespace ebb
