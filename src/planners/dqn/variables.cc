#include "planners/dqn/variables.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "plan/host_copies.h"
#include "plan/recipes.h"

namespace ebb::dqn {
namespace {

class Grouping {
 public:
  Grouping(const PlanningProblem& problem, const PlannerOptions& options, const VariableRules& rules)
      : problem_(problem),
        options_(options),
        program_(problem.program),
        host_(problem.program, problem.gaps),
        recipes_(find_recipes(problem.program, problem.gaps)) {
    Nanoseconds sum = 0;
    above_.push_back(0);
    for (OpIndex j = 0; j < program_.op_count(); ++j) {
      sum += program_.demand(j) > problem.limit ? problem.machine.op_time(program_.op(j)) + 1 : 0;
      above_.push_back(sum);
    }
    least_ = static_cast<Nanoseconds>(rules.coverage * static_cast<double>(sum));
    collect();
    Bytes total = 0;
    for (const GapId g : candidates_) total += bytes(g);
    enough_ = total / std::max(rules.most, 1);
  }

  std::vector<Variable> run() {
    for (const GapId g : candidates_) place(g);
    std::stable_sort(made_.begin(), made_.end(), [](const Variable& a, const Variable& b) {
      return a.carried != b.carried ? a.carried : a.from < b.from;
    });
    for (Variable& variable : made_)
      std::stable_sort(variable.gaps.begin(), variable.gaps.end(),
                       [&](GapId a, GapId b) { return bytes(a) > bytes(b); });
    find_sources();
    return std::move(made_);
  }

 private:
  Bytes bytes(GapId g) const { return program_.block(problem_.gaps[g].block).bytes; }
  bool carried(GapId g) const { return problem_.gaps[g].to > program_.op_count(); }
  bool remakable(GapId g) const {
    return options_.allow_recompute && recipes_[static_cast<std::size_t>(g)].remakable;
  }
  Nanoseconds time_above(OpRange range) const {
    return range.begin >= range.end
               ? 0
               : above_[static_cast<std::size_t>(range.end)] - above_[static_cast<std::size_t>(range.begin)];
  }
  Nanoseconds time_above(const Gap& gap) const {
    const Absence absence = absence_of(gap, program_.op_count());
    return time_above(absence.head) + time_above(absence.tail);
  }

  void collect() {
    for (GapId g = 0; g < problem_.gaps.count(); ++g) {
      const Nanoseconds time = time_above(problem_.gaps[g]);
      if (time > 0 && time >= least_ && (options_.allow_swap || remakable(g))) candidates_.push_back(g);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [&](GapId a, GapId b) { return problem_.gaps[a].from < problem_.gaps[b].from; });
  }

  // Only what the same kind of op made, and what can leave in the same ways, is decided together.
  auto key(GapId g) const {
    const OpIndex writer = program_.version(problem_.gaps[g].version).writer;
    return std::tuple(carried(g), remakable(g), problem_.gaps[g].kind,
                      writer < 0 ? std::string() : program_.op(writer).name);
  }

  void place(GapId g) {
    const Gap& gap = problem_.gaps[g];
    const auto open = open_.find(key(g));
    if (open != open_.end()) {
      const Variable& variable = made_[open->second];
      Gap both = gap;
      both.from = std::max(gap.from, variable.from);
      both.to = std::min(gap.to, variable.to);
      const bool related = both.from + 1 < both.to && 2 * time_above(both) >= time_above(gap);
      if (related && variable.bytes < enough_ && bytes(g) < enough_) return add(made_[open->second], g);
    }
    open_[key(g)] = made_.size();
    made_.push_back(
        {.gaps = {}, .from = gap.from, .to = gap.to, .carried = carried(g), .remakable = remakable(g)});
    add(made_.back(), g);
  }

  void add(Variable& variable, GapId g) {
    const Gap& gap = problem_.gaps[g];
    const bool trailing = gap.kind == GapKind::trailing;
    variable.gaps.push_back(g);
    variable.bytes += bytes(g);
    variable.from = std::max(variable.from, gap.from);
    variable.to = std::min(variable.to, gap.to);
    if (host_.last_write(g) != HostCopies::kNeverWritten)
      variable.out += problem_.machine.copy_out_time(bytes(g));
    if (trailing) return;
    variable.in += problem_.machine.copy_in_time(bytes(g));
    for (const OpIndex op : recipes_[static_cast<std::size_t>(g)].ops)
      variable.remaking += problem_.machine.op_time(program_.op(op));
  }

  void find_sources() {
    std::vector<int> variable_of(static_cast<std::size_t>(problem_.gaps.count()), -1);
    for (std::size_t v = 0; v < made_.size(); ++v)
      for (const GapId g : made_[v].gaps) variable_of[static_cast<std::size_t>(g)] = static_cast<int>(v);
    for (std::size_t v = 0; v < made_.size(); ++v) {
      std::vector<int>& sources = made_[v].sources;
      for (const GapId g : made_[v].gaps)
        for (const OpIndex op : recipes_[static_cast<std::size_t>(g)].ops)
          for (const VersionId input : program_.inputs(op)) add_source(sources, variable_of, input, g);
      std::sort(sources.begin(), sources.end());
      sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
      std::erase(sources, static_cast<int>(v));
    }
  }

  void add_source(std::vector<int>& sources, const std::vector<int>& variable_of, VersionId input,
                  GapId reader) const {
    const BlockId b = program_.version(input).block;
    for (GapId g = problem_.gaps.first(b); g < problem_.gaps.last(b); ++g) {
      const Gap& gap = problem_.gaps[g];
      const int variable = variable_of[static_cast<std::size_t>(g)];
      const OpIndex at = problem_.gaps[reader].to;
      if (variable >= 0 && gap.version == input && gap.from < at && at < gap.to) sources.push_back(variable);
    }
  }

  const PlanningProblem& problem_;
  const PlannerOptions& options_;
  const Program& program_;
  HostCopies host_;
  std::vector<Recipe> recipes_;
  std::vector<Nanoseconds> above_;  // by op: time above the limit before it
  Nanoseconds least_ = 0;
  Bytes enough_ = 0;
  std::vector<GapId> candidates_;
  std::map<std::tuple<bool, bool, GapKind, std::string>, std::size_t> open_;
  std::vector<Variable> made_;
};

}  // namespace

Absence absence_of(const Gap& gap, OpIndex op_count) {
  return {.head = {0, std::max<OpIndex>(gap.to - op_count, 0)},
          .tail = {gap.from + 1, std::min(gap.to, op_count)}};
}

std::vector<Variable> find_variables(const PlanningProblem& problem, const PlannerOptions& options,
                                     const VariableRules& rules) {
  return Grouping(problem, options, rules).run();
}

}  // namespace ebb::dqn
