#include "simulate/replay.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "simulate/host_lane.h"
#include "simulate/stretch.h"

namespace ebb {
namespace {

// The end of `command`, in this iteration or (back = 1) the one before.
struct Dependency {
  std::int32_t command = 0;
  int back = 0;
};

struct Node {
  Lane lane = Lane::compute;
  bool again = false;  // a replay
  Nanoseconds nominal = 0;
  Nanoseconds issue = 0;
  std::int64_t taker_rank = -1;       // place among those that take memory; -1: takes none
  std::int64_t releases_before = -1;  // releases listed before it that it waits for; -1: none
  std::vector<Dependency> after = {};
};

class ScheduleRun {
 public:
  ScheduleRun(const Program& program, const Gaps& gaps, const Machine& machine, const LoweredPlan& lowered,
              const Schedule& schedule, const ReplayOptions& options)
      : program_(program),
        gaps_(gaps),
        machine_(machine),
        commands_(schedule.commands),
        options_(options),
        host_(machine) {
    list_items();
    list_nodes();
    wait_for_copies(lowered);
    host_.start(issued_work());
  }

  Nanoseconds run();

 private:
  struct Release {
    Dependency copy, reader;
  };
  void list_items();
  void list_nodes();
  IssuedWork issued_work() const;
  Release release_at(std::size_t index) const;
  void wait_for_addresses(std::size_t index);
  void wait_for_copies(const LoweredPlan& lowered);
  // The last command before `index`, around the ring, for which `is` holds.
  Dependency last_before(std::size_t index, auto is) const;
  bool done(const Dependency& d, std::int64_t iteration) const {
    return done_[static_cast<std::size_t>(d.command)] > iteration - d.back;
  }
  Nanoseconds issued_at(const Node& node) const {
    return std::max(iteration_start_ + node.issue, host_.issues_at(node.again));
  }
  bool can_start(std::size_t lane) const;
  void start(std::size_t lane);
  void end(std::size_t lane);
  void release_what_is_free();
  void settle();

  Nanoseconds op_time(OpIndex i) const {
    return options_.op_times.empty() ? machine_.op_time(program_.op(i))
                                     : options_.op_times[static_cast<std::size_t>(i)];
  }

  const Program& program_;
  const Gaps& gaps_;
  const Machine& machine_;
  const std::vector<Command>& commands_;
  const ReplayOptions& options_;
  HostLane host_;
  std::vector<Node> nodes_;                  // by command; releases and drops have no lane of their own
  std::vector<std::int32_t> items_;          // commands that run or replay, in order
  std::vector<std::int32_t> position_item_;  // by op: the first item of its position
  std::array<std::vector<std::int32_t>, 3> queue_;  // by lane
  std::vector<Release> releases_;
  std::int64_t takers_ = 0;

  Nanoseconds now_ = 0;
  Nanoseconds iteration_start_ = 0;
  std::array<Task, 3> task_;
  std::array<std::size_t, 3> next_{};  // place in its queue
  std::array<std::int64_t, 3> iteration_{};
  std::vector<std::int64_t> done_;  // by command: iterations in which it has ended
  std::int64_t takers_started_ = 0;
  std::int64_t released_ = 0;
};

void ScheduleRun::list_items() {
  position_item_.assign(program_.ops().size(), -1);
  std::int32_t first_of_position = -1;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const Command& command = commands_[i];
    if (command.kind != CommandKind::run && command.kind != CommandKind::replay) continue;
    items_.push_back(static_cast<std::int32_t>(i));
    if (first_of_position < 0) first_of_position = static_cast<std::int32_t>(i);
    if (command.kind != CommandKind::run) continue;
    position_item_[static_cast<std::size_t>(command.op)] = first_of_position;
    first_of_position = -1;
  }
}

Dependency ScheduleRun::last_before(std::size_t index, auto is) const {
  for (std::size_t k = index; k-- > 0;)
    if (is(commands_[k])) return {static_cast<std::int32_t>(k), 0};
  for (std::size_t k = commands_.size(); k-- > index;)
    if (is(commands_[k])) return {static_cast<std::int32_t>(k), 1};
  return {static_cast<std::int32_t>(index), 1};
}

// A release comes true when its copy-out and the last reader before the gap have ended.
ScheduleRun::Release ScheduleRun::release_at(std::size_t index) const {
  const GapId gap = commands_[index].gap;
  const OpIndex from = gaps_[gap].from;
  return {
      last_before(index,
                  [gap](const Command& c) { return c.kind == CommandKind::start_out && c.gap == gap; }),
      last_before(index, [from](const Command& c) { return c.kind == CommandKind::run && c.op == from; })};
}

void ScheduleRun::list_nodes() {
  nodes_.resize(commands_.size());
  done_.assign(commands_.size(), 0);
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const Command& command = commands_[i];
    Node& node = nodes_[i];
    switch (command.kind) {
      case CommandKind::drop:
        continue;
      case CommandKind::release:
        releases_.push_back(release_at(i));
        continue;
      case CommandKind::run:
      case CommandKind::replay:
        node.lane = Lane::compute;
        node.nominal = op_time(command.op);
        node.again = command.kind == CommandKind::replay;
        if (!node.again) node.issue = program_.op(command.op).issue;
        break;
      case CommandKind::start_out:
        node.lane = Lane::out;
        node.nominal = machine_.copy_out_time(program_.block(gaps_[command.gap].block).bytes);
        break;
      case CommandKind::start_in:
        node.lane = Lane::in;
        node.nominal = machine_.copy_in_time(program_.block(gaps_[command.gap].block).bytes);
        break;
    }
    if (node.lane != Lane::compute) {
      if (command.ended > 0)
        node.after.push_back({items_[static_cast<std::size_t>(command.ended) - 1], 0});
      else
        node.after.push_back({items_.back(), 1});
    }
    if (node.lane != Lane::out) {
      node.taker_rank = takers_++;
      if (options_.waits == nullptr)
        node.releases_before = static_cast<std::int64_t>(releases_.size());
      else
        wait_for_addresses(i);
    }
    queue_[static_cast<std::size_t>(node.lane)].push_back(static_cast<std::int32_t>(i));
  }
}

IssuedWork ScheduleRun::issued_work() const {
  IssuedWork issued;
  for (const std::int32_t item : items_) {
    const Node& node = nodes_[static_cast<std::size_t>(item)];
    ++(node.again ? issued.replays : issued.ops);
    issued.compute += node.nominal;
  }
  issued.copies = static_cast<std::int64_t>(queue_[1].size() + queue_[2].size());
  return issued;
}

void ScheduleRun::wait_for_addresses(std::size_t index) {
  std::vector<Dependency>& after = nodes_[index].after;
  for (const std::int32_t freed_by : (*options_.waits)[index]) {
    const Command& holder = commands_[static_cast<std::size_t>(freed_by)];
    const int back = freed_by >= static_cast<std::int32_t>(index) ? 1 : 0;
    if (holder.kind == CommandKind::release) {
      const Release release = release_at(static_cast<std::size_t>(freed_by));
      after.push_back({release.copy.command, release.copy.back + back});
      after.push_back({release.reader.command, release.reader.back + back});
    } else if (holder.kind == CommandKind::drop && holder.ended == 0) {
      after.push_back({items_.back(), back + 1});
    } else if (holder.kind == CommandKind::drop) {
      after.push_back({items_[static_cast<std::size_t>(holder.ended) - 1], back});
    } else {
      after.push_back({freed_by, back});
    }
  }
}

void ScheduleRun::wait_for_copies(const LoweredPlan& lowered) {
  const OpIndex n = program_.op_count();
  for (const Swap& swap : lowered.swaps) {
    auto is = [&](CommandKind kind) {
      return [kind, gap = swap.gap](const Command& c) { return c.kind == kind && c.gap == gap; };
    };
    auto wait = [&](OpIndex op, CommandKind kind) {
      const std::int32_t item = position_item_[static_cast<std::size_t>(op % n)];
      nodes_[static_cast<std::size_t>(item)].after.push_back(
          last_before(static_cast<std::size_t>(item), is(kind)));
    };
    const bool returns = gaps_[swap.gap].kind != GapKind::trailing;
    if (returns) wait(swap.needed_at, CommandKind::start_in);
    if (!swap.clean && swap.out_by != kAuto) wait(swap.out_by, CommandKind::start_out);
    if (swap.clean || !returns) continue;
    for (std::size_t i = 0; i < commands_.size(); ++i)
      if (is(CommandKind::start_in)(commands_[i]))
        nodes_[i].after.push_back(last_before(i, is(CommandKind::start_out)));
  }
}

bool ScheduleRun::can_start(std::size_t lane) const {
  if (task_[lane].active || queue_[lane].empty()) return false;
  const Node& node = nodes_[static_cast<std::size_t>(queue_[lane][next_[lane]])];
  const std::int64_t k = iteration_[lane];
  if (node.lane == Lane::compute && now_ < issued_at(node)) return false;
  if (node.taker_rank >= 0 && takers_started_ != k * takers_ + node.taker_rank) return false;
  if (node.releases_before >= 0 &&
      released_ < k * static_cast<std::int64_t>(releases_.size()) + node.releases_before)
    return false;
  if (machine_.exclusive && node.lane != Lane::compute && task_[lane == 1 ? 2 : 1].active) return false;
  return std::all_of(node.after.begin(), node.after.end(), [&](const Dependency& d) { return done(d, k); });
}

void ScheduleRun::start(std::size_t lane) {
  const Node& node = nodes_[static_cast<std::size_t>(queue_[lane][next_[lane]])];
  if (node.taker_rank >= 0) ++takers_started_;
  if (node.lane == Lane::compute)
    host_.item_started(node.again, now_);
  else
    host_.copy_started(now_);
  task_[lane].start(now_, node.nominal, kUnstretched);
}

void ScheduleRun::end(std::size_t lane) {
  task_[lane].active = false;
  ++done_[static_cast<std::size_t>(queue_[lane][next_[lane]])];
  if (++next_[lane] < queue_[lane].size()) return;
  next_[lane] = 0;
  ++iteration_[lane];
}

void ScheduleRun::release_what_is_free() {
  if (releases_.empty()) return;
  for (;;) {
    const auto count = static_cast<std::int64_t>(releases_.size());
    const Release& next = releases_[static_cast<std::size_t>(released_ % count)];
    const std::int64_t iteration = released_ / count;
    if (!done(next.copy, iteration) || !done(next.reader, iteration)) return;
    ++released_;
  }
}

void ScheduleRun::settle() {
  const auto active = static_cast<std::size_t>((task_[1].active ? 1 : 0) + (task_[2].active ? 2 : 0));
  task_[0].change(now_, machine_.compute_stretch[active]);
  const std::int64_t stretch = active == 3 ? machine_.copy_stretch() : kUnstretched;
  task_[1].change(now_, stretch);
  task_[2].change(now_, stretch);
}

Nanoseconds ScheduleRun::run() {
  constexpr std::array<std::size_t, 3> kStartOrder = {1, 0, 2};  // out, compute, in
  Nanoseconds last_step = 0;
  for (;;) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t lane = 0; lane < 3; ++lane) {
        if (!task_[lane].active || task_[lane].end != now_) continue;
        end(lane);
        changed = true;
        if (lane != 0 || next_[0] != 0) continue;
        last_step = now_ - iteration_start_;
        iteration_start_ = now_;
        if (iteration_[0] == options_.iterations) return last_step;
      }
      release_what_is_free();
      for (const std::size_t lane : kStartOrder)
        if (can_start(lane)) {
          start(lane);
          changed = true;
        }
    }
    settle();
    Nanoseconds next = kEndOfTime;
    for (const Task& task : task_)
      if (task.active) next = std::min(next, task.end);
    if (!task_[0].active) {
      const Nanoseconds issue = issued_at(nodes_[static_cast<std::size_t>(queue_[0][next_[0]])]);
      if (issue > now_) next = std::min(next, issue);
    }
    if (next == kEndOfTime) return kEndOfTime;  // a schedule that validate() would refuse
    now_ = next;
  }
}

}  // namespace

Nanoseconds replay(const Program& program, const Gaps& gaps, const Machine& machine,
                   const LoweredPlan& lowered, const Schedule& schedule, const ReplayOptions& options) {
  return ScheduleRun(program, gaps, machine, lowered, schedule, options).run();
}

}  // namespace ebb
