#include "planners/mixed/capuchin_candidates.h"

#include <algorithm>

#include "plan/recipes.h"

namespace ebb {
namespace {

bool contains(const auto& list, auto value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// By op: how many ops before it exceed the limit.
std::vector<OpIndex> count_tight_ops(const PlanningProblem& problem) {
  std::vector<OpIndex> before = {0};
  for (OpIndex j = 0; j < problem.program.op_count(); ++j)
    before.push_back(before.back() + (problem.program.demand(j) > problem.limit ? 1 : 0));
  return before;
}

}  // namespace

std::vector<Nanoseconds> plain_starts(const PlanningProblem& problem) {
  std::vector<Nanoseconds> starts = {0};
  for (const Op& op : problem.program.ops()) starts.push_back(starts.back() + problem.machine.op_time(op));
  return starts;
}

CapuchinCandidates::CapuchinCandidates(const PlanningProblem& problem, const PlannerOptions& options) {
  const Program& program = problem.program;
  const std::vector<Nanoseconds> starts = plain_starts(problem);
  const std::vector<OpIndex> tight = count_tight_ops(problem);
  std::vector<Recipe> recipes = find_recipes(program, problem.gaps);
  std::vector<std::vector<OpIndex>> ops;
  for (GapId g = 0; g < problem.gaps.count(); ++g) {
    const Gap& gap = problem.gaps[g];
    const Block& block = program.block(gap.block);
    const auto to = static_cast<std::size_t>(gap.to);
    const auto after = static_cast<std::size_t>(gap.from) + 1;
    if (gap.kind != GapKind::between || block.lifetime == Lifetime::persistent) continue;
    if (tight[to] == tight[after]) continue;
    Recipe& recipe = recipes[static_cast<std::size_t>(g)];
    const Nanoseconds copies =
        problem.machine.copy_out_time(block.bytes) + problem.machine.copy_in_time(block.bytes);
    Nanoseconds remaking = 0;
    for (OpIndex op : recipe.ops) remaking += problem.machine.op_time(program.op(op));
    list_.push_back({.gap = g,
                     .bytes = block.bytes,
                     .free_time = starts[to] - starts[after] - copies,
                     .swappable = options.allow_swap,
                     .remakable = options.allow_recompute && recipe.remakable,
                     .remaking = remaking});
    ops.push_back(std::move(recipe.ops));
  }
  find_sources(problem, ops);
}

void CapuchinCandidates::add_source(std::size_t i, std::size_t source) {
  if (i == source || contains(list_[i].sources, source)) return;
  list_[i].sources.push_back(source);
  readers_[source].push_back(i);
}

void CapuchinCandidates::find_sources(const PlanningProblem& problem,
                                      const std::vector<std::vector<OpIndex>>& ops) {
  readers_.resize(list_.size());
  std::vector<std::ptrdiff_t> of_gap(static_cast<std::size_t>(problem.gaps.count()), -1);
  for (std::size_t i = 0; i < list_.size(); ++i)
    of_gap[static_cast<std::size_t>(list_[i].gap)] = static_cast<std::ptrdiff_t>(i);
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const OpIndex at = problem.gaps[list_[i].gap].to;
    for (OpIndex op : ops[i])
      for (VersionId v : problem.program.inputs(op)) {
        const BlockId b = problem.program.version(v).block;
        for (GapId g = problem.gaps.first(b); g < problem.gaps.last(b); ++g) {
          const Gap& gap = problem.gaps[g];
          const std::ptrdiff_t source = of_gap[static_cast<std::size_t>(g)];
          if (source >= 0 && gap.version == v && gap.from < at && at < gap.to)
            add_source(i, static_cast<std::size_t>(source));
        }
      }
  }
}

void CapuchinCandidates::recompute(std::size_t i) {
  CapuchinCandidate& chosen = list_[i];
  chosen.action = Action::recompute;
  Nanoseconds runs = 1;  // of what the chosen one reads: for itself and for those that read it
  const std::vector<std::size_t> sources = chosen.sources;
  const std::vector<std::size_t> readers = readers_[i];
  for (std::size_t reader : readers) {
    CapuchinCandidate& other = list_[reader];
    if (std::erase(other.sources, i) == 0) continue;
    for (std::size_t source : sources) add_source(reader, source);
    if (other.action == Action::recompute) ++runs;
    other.remaking += chosen.remaking;
  }
  for (std::size_t source : sources)
    if (list_[source].action == Action::keep) list_[source].burden = runs * list_[source].remaking;
}

}  // namespace ebb
