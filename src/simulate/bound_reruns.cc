#include "simulate/bound_reruns.h"

#include <algorithm>
#include <map>

namespace ebb {
namespace {

// A gap that needs one op to run again, at a position in [first, last].
struct Demand {
  std::size_t gap;
  OpIndex first;
  OpIndex last;
};

// Demands that overlap, directly or through others, may share runs. Runs elsewhere can be moved to the end of
// the earliest-ending gap they serve, so columns for those ends suffice.
void share_runs(LinearProgram& lp, std::span<const Demand> demands, double cost, DropColumns& columns) {
  std::map<OpIndex, LinearProgram::Column> runs;
  for (const Demand& demand : demands) runs.emplace(demand.last, 0);
  for (auto& [position, column] : runs) {
    column = lp.add_column(cost, 0, 1);
    OpIndex from = position;
    OpIndex to = position;
    for (const Demand& demand : demands) {
      if (demand.first > position || demand.last < position) continue;
      from = std::min(from, demand.first - 2);
      to = std::max(to, demand.last);
    }
    columns.reruns.push_back({column, from, to});
  }
  for (const Demand& demand : demands) {
    const LinearProgram::Row row = lp.add_at_least(0);
    lp.add_term(row, columns.dropped[demand.gap], -1);
    for (auto it = runs.lower_bound(demand.first); it != runs.end() && it->first <= demand.last; ++it)
      lp.add_term(row, it->second, 1);
  }
}

}  // namespace

DropColumns add_drop_columns(LinearProgram& lp, const BoundProblem& problem,
                             std::span<const Absence* const> gaps, double unit) {
  DropColumns columns;
  std::vector<std::vector<Demand>> demands(problem.op_time.size());
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    columns.dropped.push_back(lp.add_column(0, 0, 1));
    columns.reruns.push_back({columns.dropped.back(), gaps[i]->from, gaps[i]->to});
    for (OpIndex op : gaps[i]->reruns)
      demands[static_cast<std::size_t>(op)].push_back({i, gaps[i]->from + 2, gaps[i]->to});
  }
  for (std::size_t op = 0; op < demands.size(); ++op) {
    auto& list = demands[op];
    const double cost = static_cast<double>(problem.op_time[op]) / unit;
    if (list.empty() || cost == 0) continue;
    std::sort(list.begin(), list.end(), [](const Demand& a, const Demand& b) { return a.first < b.first; });
    for (std::size_t begin = 0; begin < list.size();) {
      std::size_t end = begin + 1;
      for (OpIndex reach = list[begin].last; end < list.size() && list[end].first <= reach; ++end)
        reach = std::max(reach, list[end].last);
      if (end - begin == 1)
        lp.add_cost(columns.dropped[list[begin].gap], cost);
      else
        share_runs(lp, std::span(list).subspan(begin, end - begin), cost, columns);
      begin = end;
    }
  }
  return columns;
}

}  // namespace ebb
