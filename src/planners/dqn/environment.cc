#include "planners/dqn/environment.h"

#include <algorithm>
#include <cassert>

namespace ebb::dqn {

Environment::Environment(const PlanningProblem& problem, const std::vector<Variable>& variables,
                         const Graph& graph)
    : problem_(problem),
      variables_(variables),
      graph_(graph),
      n_(problem.program.op_count()),
      clock_(problem.program, problem.machine),
      host_(problem.program, problem.gaps),
      evaluate_(problem) {
  Nanoseconds everything = clock_.step();
  for (const Variable& variable : variables) {
    if (!variable.carried) stops_.push_back(variable.from);
    everything += std::max(variable.out + variable.in, variable.remaking);
  }
  std::sort(stops_.begin(), stops_.end());
  stops_.erase(std::unique(stops_.begin(), stops_.end()), stops_.end());
  dead_end_ = -static_cast<double>(everything) / static_cast<double>(clock_.step());
  reset();
}

void Environment::reset() {
  plan_ = Plan::keep_all(problem_.gaps);
  decided_.assign(variables_.size(), Action::keep);
  need_.resize(static_cast<std::size_t>(n_));
  for (OpIndex j = 0; j < n_; ++j) need_[static_cast<std::size_t>(j)] = problem_.program.demand(j);
  position_ = 0;
  delay_ = 0;
  prefetches_.clear();
  sum_ = 0;
  finished_ = false;
  outcome_.reset();
  update_next_above();
  settle();
}

std::span<const int> Environment::valid() const {
  const std::span<const int> all = actions_;
  return !all.empty() && all.front() == 0 ? all.subspan(1) : all;
}

double Environment::act(int action) {
  assert(!finished_ && "the episode goes on");
  const Node& node = graph_[action];
  double reward = 0;
  if (action == 0)
    do_nothing();
  else if (node.action == Action::swap)
    reward = offload(variables_[static_cast<std::size_t>(node.variable)]);
  else
    reward = remove(node.variable);
  if (action != 0) decided_[static_cast<std::size_t>(node.variable)] = node.action;
  sum_ += reward;
  const double last = settle();
  sum_ += last;
  return reward + last;
}

void Environment::do_nothing() {
  position_ = std::min(next_stop(position_), next_above_[static_cast<std::size_t>(position_)]);
}

// §4.6: the variable leaves when its copy has ended; until then its bytes count.
double Environment::offload(const Variable& variable) {
  const Nanoseconds copy = variable.carried ? 0 : variable.out;
  const Nanoseconds end = clock_.start(position_) + delay_ + copy;
  OpIndex next = position_;
  while (next < n_ && clock_.start(next) + delay_ < end) ++next;
  if (next < n_ && next > position_) next = std::max(graph_[graph_.node_at(next)].op, next);
  const OpIndex above = next_above_[static_cast<std::size_t>(position_)];
  Nanoseconds pause = 0;
  if (above < next || above == position_) {
    next = above;
    pause = std::max<Nanoseconds>(0, end - (clock_.start(next) + delay_));
  }
  delay_ += pause;
  position_ = next;
  mark(variable, Action::swap);
  take_off(variable);
  const Nanoseconds late =
      variable.in == 0 ? 0 : prefetches_.add(prefetch_from(variable), clock_.start(variable.to), variable.in);
  return -static_cast<double>(pause + late) / static_cast<double>(clock_.step());
}

double Environment::remove(int id) {
  const Variable& variable = variables_[static_cast<std::size_t>(id)];
  const Nanoseconds time = remaking(id);
  mark(variable, Action::recompute);
  take_off(variable);
  if (!blocked()) do_nothing();
  return -static_cast<double>(time) / static_cast<double>(clock_.step());
}

void Environment::mark(const Variable& variable, Action action) {
  for (const GapId g : variable.gaps) plan_[g].action = action;
}

void Environment::take_off(const Variable& variable) {
  for (const GapId g : variable.gaps) {
    const Bytes bytes = problem_.program.block(problem_.gaps[g].block).bytes;
    const Absence absence = absence_of(problem_.gaps[g], n_);
    for (const OpRange& range : {absence.head, absence.tail})
      for (OpIndex j = range.begin; j < range.end; ++j) need_[static_cast<std::size_t>(j)] -= bytes;
  }
  update_next_above();
}

void Environment::update_next_above() {
  next_above_.resize(static_cast<std::size_t>(n_) + 1);
  next_above_.back() = n_;
  for (OpIndex j = n_ - 1; j >= 0; --j)
    next_above_[static_cast<std::size_t>(j)] = need_[static_cast<std::size_t>(j)] > problem_.limit
                                                   ? j
                                                   : next_above_[static_cast<std::size_t>(j) + 1];
}

OpIndex Environment::next_stop(OpIndex after) const {
  const auto next = std::upper_bound(stops_.begin(), stops_.end(), after);
  return next == stops_.end() ? n_ : *next;
}

// Own remaking and that of all removed variables it leads back to.
Nanoseconds Environment::remaking(int id) const {
  std::vector<int> open = {id}, seen = {id};
  Nanoseconds time = 0;
  while (!open.empty()) {
    const Variable& variable = variables_[static_cast<std::size_t>(open.back())];
    open.pop_back();
    time += variable.remaking;
    for (const int source : variable.sources) {
      if (decided_[static_cast<std::size_t>(source)] != Action::recompute) continue;
      if (std::find(seen.begin(), seen.end(), source) != seen.end()) continue;
      seen.push_back(source);
      open.push_back(source);
    }
  }
  return time;
}

// The copy back may start once its bytes fit at every op until it is needed.
Nanoseconds Environment::prefetch_from(const Variable& variable) const {
  OpIndex p = variable.to;
  auto need = [&](OpIndex j) { return need_[static_cast<std::size_t>(j % n_)]; };
  while (p - 1 > variable.from && need(p - 1) + variable.bytes <= problem_.limit) --p;
  return clock_.start(p);
}

double Environment::settle() {
  actions_.clear();
  while (true) {
    if (next_above_.front() == n_ && try_to_finish())
      return outcome_ ? -sum_ - outcome_->ratio() + 1 : dead_end_;
    if (position_ >= n_ || next_above_[static_cast<std::size_t>(position_)] == n_) break;
    list_actions();
    if (!actions_.empty() && actions_ != std::vector<int>{0}) return 0;
    if (blocked()) break;
    do_nothing();
  }
  actions_.clear();
  finished_ = true;
  return dead_end_;
}

// Everything fits as far as the agent's own account says. The simulator knows replays and their temporaries
// too: what it objects to is put on the account, and the episode goes on if that lies ahead.
bool Environment::try_to_finish() {
  time_copies();
  StepResult step = evaluate_(plan_);
  finished_ = true;
  if (!step.infeasible) {
    outcome_ = std::move(step);
    return true;
  }
  const Infeasible& reason = *step.infeasible;
  if (reason.obstacle != Obstacle::too_large || reason.op < position_) return true;
  need_[static_cast<std::size_t>(reason.op)] = reason.needed;
  update_next_above();
  finished_ = false;
  return false;
}

GapId Environment::swaps_of(BlockId block) const {
  GapId swaps = 0;
  for (GapId g = problem_.gaps.first(block); g < problem_.gaps.last(block); ++g)
    swaps += plan_[g].action == Action::swap ? 1 : 0;
  return swaps;
}

// Fig. 1: the copy runs beside the last read, where the content is final before it. A block that leaves
// more than once may need no second copy, and then has no time to set.
void Environment::time_copies() {
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    if (decided_[v] != Action::swap) continue;
    for (const GapId g : variables_[v].gaps) {
      const OpIndex before = problem_.gaps[g].from - 1;
      const bool final = before >= 0 && swaps_of(problem_.gaps[g].block) == 1 &&
                         host_.last_write(g) != HostCopies::kNeverWritten && host_.last_write(g) <= before &&
                         host_.present_since(plan_, g, before);
      plan_[g].out_after = final ? before : kAuto;
    }
  }
}

void Environment::list_actions() {
  actions_.clear();
  if (!blocked()) actions_.push_back(0);
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    const Variable& variable = variables_[v];
    if (decided_[v] != Action::keep || (!variable.carried && variable.from > position_)) continue;
    const OpIndex begin = variable.carried ? position_ : std::max(position_, variable.from + 1);
    const OpIndex above = next_above_[static_cast<std::size_t>(std::min(begin, n_))];
    const bool helps = variable.carried ? above < variable.to - n_ || (above < n_ && above > variable.from)
                                        : above < variable.to;
    if (!helps || above >= n_ || (blocked() && above != position_)) continue;
    for (const int node : {graph_.offload_node(static_cast<int>(v)), graph_.remove_node(static_cast<int>(v))})
      if (node >= 0) actions_.push_back(node);
  }
}

}  // namespace ebb::dqn
