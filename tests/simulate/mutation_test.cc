// Valid schedules of random cases, each broken in one way. Every mutation is of a kind that breaks a rule for
// certain (the reason stands beside it), and the validator must object to every one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>

#include "plan/validate.h"
#include "simulate/random_case.h"
#include "simulate/simulator.h"

namespace ebb {
namespace {

using Commands = std::vector<Command>;

bool is_item(const Command& c) { return c.kind == CommandKind::run || c.kind == CommandKind::replay; }

// A valid schedule and the questions mutations ask of it.
struct Subject {
  const RandomCase& c;
  Commands commands;
  Random& random;

  // A random command that the predicate accepts, or -1.
  int pick(const std::function<bool(const Command&)>& accepts) const {
    std::vector<int> found;
    for (std::size_t i = 0; i < commands.size(); ++i)
      if (accepts(commands[i])) found.push_back(static_cast<int>(i));
    return found.empty()
               ? -1
               : found[static_cast<std::size_t>(random.between<int>(0, static_cast<int>(found.size()) - 1))];
  }
  const Command& at(int i) const { return commands[static_cast<std::size_t>(i)]; }
  int find(CommandKind kind, GapId gap) const {
    for (std::size_t i = 0; i < commands.size(); ++i)
      if (commands[i].kind == kind && commands[i].gap == gap) return static_cast<int>(i);
    return -1;
  }
  int find_run(OpIndex op) const {
    for (std::size_t i = 0; i < commands.size(); ++i)
      if (commands[i].kind == CommandKind::run && commands[i].op == op) return static_cast<int>(i);
    return -1;
  }
  std::int32_t item_of(OpIndex op) const { return at(find_run(op)).ended; }
  const Gap& gap(int i) const { return c.gaps[at(i).gap]; }
  const Swap& swap(int i) const {
    return *std::find_if(c.lowered->swaps.begin(), c.lowered->swaps.end(),
                         [&](const Swap& s) { return s.gap == at(i).gap; });
  }
  bool is_swap(int i) const { return c.lowered->plan[at(i).gap].action == Action::swap; }
  OpIndex last_present(int i) const { return std::max(gap(i).from, swap(i).out_after); }

  Commands moved(int from, int to, std::int32_t ended) const {
    Commands result = commands;
    Command command = at(from);
    command.ended = ended;
    result.erase(result.begin() + from);
    result.insert(result.begin() + (to > from ? to - 1 : to), command);
    return result;
  }
  Commands with_ended(int i, std::int32_t ended) const {
    Commands result = commands;
    result[static_cast<std::size_t>(i)].ended = ended;
    return result;
  }
};

using Mutation = std::optional<Commands> (*)(const Subject&);

// Every op runs once, every gap has its commands, and replays are the fewest: nothing can be missing.
std::optional<Commands> remove(const Subject& s) {
  const int i = s.pick([](const Command&) { return true; });
  Commands result = s.commands;
  result.erase(result.begin() + i);
  if (is_item(s.at(i)))
    for (Command& c : result) c.ended -= c.ended > s.at(i).ended;
  return result;
}

std::optional<Commands> duplicate(const Subject& s) {
  const int i = s.pick([](const Command& c) { return !is_item(c); });
  if (i < 0) return {};
  Commands result = s.commands;
  result.insert(result.begin() + i, s.at(i));
  return result;
}

std::optional<Commands> exchange_ops(const Subject& s) {
  const int i = s.pick(
      [&](const Command& c) { return c.kind == CommandKind::run && c.op + 1 < s.c.program.op_count(); });
  if (i < 0) return {};
  Commands result = s.commands;
  std::swap(result[static_cast<std::size_t>(i)].op,
            result[static_cast<std::size_t>(s.find_run(s.at(i).op + 1))].op);
  return result;
}

std::optional<Commands> exchange_replays(const Subject& s) {
  for (std::size_t i = 0; i + 1 < s.commands.size(); ++i) {
    if (s.commands[i].kind != CommandKind::replay || s.commands[i + 1].kind != CommandKind::replay) continue;
    Commands result = s.commands;
    std::swap(result[i].op, result[i + 1].op);
    return result;
  }
  return {};
}

// The step replaced was needed, as every step of the fewest is.
std::optional<Commands> replay_another_op(const Subject& s) {
  const int i = s.pick([](const Command& c) { return c.kind == CommandKind::replay; });
  if (i < 0) return {};
  Commands result = s.commands;
  OpIndex& op = result[static_cast<std::size_t>(i)].op;
  op = op == 0 ? 1 : op - 1;
  return result;
}

std::optional<Commands> rename_gap(const Subject& s) {
  if (s.c.gaps.count() < 2) return {};
  const int i = s.pick([](const Command& c) { return !is_item(c); });
  if (i < 0) return {};
  Commands result = s.commands;
  GapId& gap = result[static_cast<std::size_t>(i)].gap;
  gap = (gap + 1) % s.c.gaps.count();
  return result;
}

// Its memory is not free and its bytes are not on the host yet.
std::optional<Commands> return_before_release(const Subject& s) {
  const int i = s.pick([](const Command& c) { return c.kind == CommandKind::start_in; });
  if (i < 0) return {};
  const int left = s.find(s.swap(i).clean ? CommandKind::drop : CommandKind::release, s.at(i).gap);
  if (left > i) return {};
  return s.moved(i, left, s.at(left).ended);
}

// Trailing ones are left out: there it could be the release of the iteration before.
std::optional<Commands> release_before_copy(const Subject& s) {
  const int i = s.pick([](const Command& c) { return c.kind == CommandKind::release; });
  if (i < 0 || s.gap(i).kind == GapKind::trailing) return {};
  const int out = s.find(CommandKind::start_out, s.at(i).gap);
  if (out > i) return {};
  return s.moved(i, out, s.at(out).ended);
}

// The op that needs it runs first, and what is listed behind that op cannot be meant for the next iteration:
// the block has not left yet by then.
std::optional<Commands> return_after_need(const Subject& s) {
  const int i = s.pick([](const Command& c) { return c.kind == CommandKind::start_in; });
  if (i < 0) return {};
  const int need = s.find_run(s.swap(i).needed_at % s.c.program.op_count());
  if (need < i) return {};
  return s.moved(i, need + 1, s.at(need).ended + 1);
}

std::optional<Commands> copy_before_final(const Subject& s) {
  const int i = s.pick([](const Command& c) { return c.kind == CommandKind::start_out; });
  if (i < 0 || s.swap(i).out_after < 0) return {};
  const std::int32_t item = s.item_of(s.swap(i).out_after);
  if (s.at(i).ended <= item) return {};
  return s.with_ended(i, item);
}

std::optional<Commands> release_before_last_reader(const Subject& s) {
  const int i = s.pick([](const Command& c) { return c.kind == CommandKind::release; });
  if (i < 0 || s.gap(i).kind == GapKind::trailing) return {};
  const std::int32_t item = s.item_of(s.last_present(i));
  if (s.at(i).ended <= item) return {};
  return s.with_ended(i, item);
}

std::optional<Commands> return_before_its_position(const Subject& s) {
  const int i = s.pick([](const Command& c) { return c.kind == CommandKind::start_in; });
  if (i < 0 || s.gap(i).kind != GapKind::between) return {};
  const std::int32_t item = s.item_of(s.swap(i).in_from - 1);
  if (s.at(i).ended <= item) return {};
  return s.with_ended(i, item);
}

// Still in use, or promised to be there, when the op runs.
std::optional<Commands> drop_early(const Subject& s) {
  const int i = s.pick([](const Command& c) { return c.kind == CommandKind::drop; });
  if (i < 0) return {};
  const OpIndex after = s.is_swap(i) ? s.last_present(i) : s.gap(i).from;
  const int run = s.find_run(after);
  const bool first = s.find(CommandKind::drop, s.at(i).gap) == i;
  if (!first || (!s.is_swap(i) && s.at(i).ended != s.item_of(after) + 1)) return {};
  return s.moved(i, run, s.at(run).ended);
}

// A transposition of three or more is not a rotation, whichever iteration each copy belongs to.
std::optional<Commands> exchange_copies(const Subject& s, CommandKind kind) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < s.commands.size(); ++i)
    if (s.commands[i].kind == kind) places.push_back(i);
  if (places.size() < 3) return {};
  const std::size_t i = s.random.between<std::size_t>(0, places.size() - 2);
  Commands result = s.commands;
  std::swap(result[places[i]].gap, result[places[i + 1]].gap);
  return result;
}
std::optional<Commands> exchange_outs(const Subject& s) { return exchange_copies(s, CommandKind::start_out); }
std::optional<Commands> exchange_ins(const Subject& s) { return exchange_copies(s, CommandKind::start_in); }

// An event that is recorded only later: a cycle of waits.
std::optional<Commands> wait_for_what_follows(const Subject& s) {
  const int i = s.pick([](const Command& c) { return !is_item(c); });
  if (i < 0) return {};
  std::int32_t listed = 0;
  for (int k = 0; k < i; ++k) listed += is_item(s.at(k));
  return s.with_ended(i, listed + 1);
}

const std::map<std::string, Mutation> kMutations = {
    {"remove", remove},
    {"duplicate", duplicate},
    {"exchange ops", exchange_ops},
    {"exchange replays", exchange_replays},
    {"replay another op", replay_another_op},
    {"rename gap", rename_gap},
    {"return before release", return_before_release},
    {"release before copy", release_before_copy},
    {"return after need", return_after_need},
    {"copy before final", copy_before_final},
    {"release before last reader", release_before_last_reader},
    {"return before its position", return_before_its_position},
    {"drop early", drop_early},
    {"exchange outs", exchange_outs},
    {"exchange ins", exchange_ins},
    {"wait for what follows", wait_for_what_follows},
};

TEST(Mutations, EveryBrokenScheduleIsCaught) {
  const bool soak = std::getenv("EBB_SOAK") != nullptr;
  const std::uint64_t cases = soak ? 100'000 : 3'000;
  std::map<std::string, int> caught;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const RandomCase c = random_case(seed);
    if (!c.lowered) continue;
    Timeline timeline;
    Schedule schedule;
    const StepResult step =
        Simulator(c.program, c.gaps, c.machine).run(*c.lowered, c.limit, timeline, schedule);
    if (step.infeasible || schedule.commands.empty()) continue;
    Random random(seed);
    const Subject subject{c, schedule.commands, random};
    for (const auto& [name, mutate] : kMutations) {
      const auto mutated = mutate(subject);
      if (!mutated || *mutated == schedule.commands) continue;
      ASSERT_FALSE(validate(c.program, c.gaps, *c.lowered, {*mutated}, c.limit).empty())
          << "not caught: " << name << ", seed " << seed << "\n"
          << describe(c) << describe(schedule.commands) << describe(*mutated);
      ++caught[name];
    }
    // Between two starts memory only shrinks, so the accounting peaks exactly where the simulated occupancy
    // does.
    EXPECT_TRUE(validate(c.program, c.gaps, *c.lowered, schedule, step.peak_demand).empty())
        << "seed " << seed;
    const auto over = validate(c.program, c.gaps, *c.lowered, schedule, step.peak_demand - 1);
    ASSERT_FALSE(over.empty()) << "not caught: a byte less than the peak, seed " << seed;
    EXPECT_EQ(over.front().rule, Rule::over_limit) << over.front().sentence;
    ++caught["a byte less"];
  }
  for (const auto& [name, count] : caught) std::cout << name << ": " << count << "\n";
  for (const auto& [name, mutate] : kMutations) EXPECT_GT(caught[name], 10) << name;
}

}  // namespace
}  // namespace ebb
