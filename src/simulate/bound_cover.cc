#include <algorithm>
#include <set>

#include "simulate/bound_reruns.h"

namespace ebb {
namespace {

// A row of the cover: at `op` at least `need` bytes are absent.
struct Cover {
  OpIndex op;
  Bytes need;
  OpIndex newest;  // the latest first op of the gaps that cover it
  OpIndex oldest;  // the earliest last op of those gaps
};

std::vector<Cover> find_covers(const std::vector<const Absence*>& gaps, const std::vector<Bytes>& need) {
  const std::size_t n = need.size();
  std::vector<std::vector<const Absence*>> enters(n);
  for (const Absence* gap : gaps) enters[static_cast<std::size_t>(gap->from) + 1].push_back(gap);
  std::multiset<OpIndex> firsts;
  std::multiset<OpIndex> lasts;
  std::vector<std::vector<const Absence*>> leaves(n + 1);
  for (const Absence* gap : gaps) leaves[static_cast<std::size_t>(gap->to)].push_back(gap);
  std::vector<Cover> covers;
  for (std::size_t k = 0; k < n; ++k) {
    for (const Absence* gap : leaves[k]) {
      firsts.erase(firsts.find(gap->from + 1));
      lasts.erase(lasts.find(gap->to - 1));
    }
    for (const Absence* gap : enters[k]) {
      firsts.insert(gap->from + 1);
      lasts.insert(gap->to - 1);
    }
    if (need[k] <= 0) continue;
    const Cover cover{static_cast<OpIndex>(k), need[k], *firsts.rbegin(), *lasts.begin()};
    // Of two ops, the one with more need among fewer gaps says all the other says.
    while (!covers.empty() && covers.back().need <= cover.need && cover.newest <= covers.back().op)
      covers.pop_back();
    if (!covers.empty() && covers.back().need >= cover.need && covers.back().oldest >= cover.op) continue;
    covers.push_back(cover);
  }
  return covers;
}

std::vector<const Absence*> keep_useful(const std::vector<const Absence*>& gaps,
                                        const std::vector<Bytes>& need) {
  std::vector<int> needy(need.size() + 1, 0);  // ops before k with a need
  for (std::size_t k = 0; k < need.size(); ++k) needy[k + 1] = needy[k] + (need[k] > 0);
  std::vector<const Absence*> useful;
  for (const Absence* gap : gaps)
    if (needy[static_cast<std::size_t>(gap->to)] > needy[static_cast<std::size_t>(gap->from) + 1])
      useful.push_back(gap);
  return useful;
}

Nanoseconds solve(const BoundProblem& problem, const std::vector<const Absence*>& gaps,
                  const std::vector<Cover>& covers) {
  const double unit = static_cast<double>(std::max<Nanoseconds>(problem.compute_time, 1)) / 1e3;
  const auto byte_unit = static_cast<double>(covers.front().need);
  LinearProgram lp;
  const DropColumns drops = add_drop_columns(lp, problem, gaps, unit);
  // absent(k) = absent(k - 1) + what enters - what leaves: each gap appears in two rows however long it is.
  double total = 0;
  for (const Absence* gap : gaps) total += static_cast<double>(gap->bytes) / byte_unit;
  std::vector<LinearProgram::Row> rows;
  LinearProgram::Column before = -1;
  for (const Cover& cover : covers) {
    const double need = static_cast<double>(cover.need) / byte_unit;
    const auto absent = lp.add_column(0, need, std::max(need, total));
    rows.push_back(lp.add_at_least(0));
    if (before >= 0) lp.add_term(rows.back(), before, 1);
    lp.add_term(rows.back(), absent, -1);
    before = absent;
  }
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    auto at = [&](OpIndex op) {
      return static_cast<std::size_t>(std::lower_bound(covers.begin(), covers.end(), op,
                                                       [](const Cover& c, OpIndex o) { return c.op < o; }) -
                                      covers.begin());
    };
    const std::size_t begin = at(gaps[i]->from + 1);
    const std::size_t end = at(gaps[i]->to);
    if (begin == end) continue;
    const double bytes = static_cast<double>(gaps[i]->bytes) / byte_unit;
    lp.add_term(rows[begin], drops.dropped[i], bytes);
    if (end < rows.size()) lp.add_term(rows[end], drops.dropped[i], -bytes);
  }
  const LpSolution solution = minimise(lp, problem.options.lp_seconds);
  return round_up(problem, solution.bound * unit);
}

}  // namespace

Bound cover_bound(const BoundProblem& problem) {
  std::vector<Bytes> need = problem.excess;
  std::vector<Bytes> droppable(need.size(), 0);
  std::vector<const Absence*> gaps;
  for (const Absence& absence : problem.absences) {
    if (!absence.droppable) continue;
    if (absence.returns) {
      add_over(absence, absence.bytes, droppable);
      gaps.push_back(&absence);
    } else {
      add_over(absence, -absence.bytes, need);  // nobody needs it again: it goes for nothing
    }
  }
  Bound bound{.kind = BoundKind::cover, .holds_for = PlanKind::recompute_only};
  for (std::size_t k = 0; k < need.size(); ++k)
    bound.least_limit = std::max(bound.least_limit, problem.limit + need[k] - droppable[k]);
  if (bound.least_limit > problem.limit) return bound;
  gaps = keep_useful(gaps, need);
  const std::vector<Cover> covers = find_covers(gaps, need);
  const Nanoseconds replays = covers.empty() ? 0 : solve(problem, gaps, covers);
  bound.step_time = std::max(problem.plain_time, problem.compute_time + replays);
  return bound;
}

}  // namespace ebb
