// Bounds against every plan of small random programs, as the simulator judges them: a bound above any of them
// is wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "plan/lower.h"
#include "random_programs.h"
#include "simulate/bounds.h"
#include "simulate/simulator.h"

namespace ebb {
namespace {

constexpr GapId kMostGaps = 7;  // 3^7 plans

bool all_but(const Plan& plan, Action action) {
  for (const Decision& decision : plan.decisions)
    if (decision.action == action) return false;
  return true;
}

// The next plan in counting order over keep, swap, recompute; false after the last.
bool next_plan(Plan& plan) {
  for (Decision& decision : plan.decisions) {
    if (decision.action == Action::keep) return decision.action = Action::swap, true;
    if (decision.action == Action::swap) return decision.action = Action::recompute, true;
    decision.action = Action::keep;
  }
  return false;
}

class Judge {
 public:
  Judge(const Program& program, const Machine& machine, Bytes limit)
      : gaps_(program),
        limit_(limit),
        bounds_(bounds(program, gaps_, machine, limit)),
        lowerer_(program, gaps_),
        simulator_(program, gaps_, machine) {}

  const Gaps& gaps() const { return gaps_; }
  const Bounds& all() const { return bounds_; }
  int judged() const { return judged_; }
  std::optional<Nanoseconds> best_time() const { return best_; }

  // Empty, or which bound the plan beats. Means of unsettled steps are no steady step times and prove
  // nothing.
  std::string beaten_by(const Plan& plan) {
    if (lowerer_.lower(plan, limit_, lowered_)) return "";
    const StepResult result = simulator_.run(lowered_, limit_);
    if (result.infeasible || !result.periodic) return "";
    ++judged_;
    if (!best_ || result.step_time < *best_) best_ = result.step_time;
    std::string beaten;
    auto check = [&](const Bound& bound, std::string_view name, bool applies) {
      if (!applies || (bound.step_time && *bound.step_time <= result.step_time)) return;
      beaten +=
          fmt::format("{} {} > {}; ", name,
                      bound.step_time ? std::to_string(*bound.step_time) : "does not fit", result.step_time);
    };
    const bool no_recompute = all_but(plan, Action::recompute);
    const bool no_swap = all_but(plan, Action::swap);
    check(bounds_.compute, "compute", true);
    check(bounds_.transfer, "transfer", no_recompute);
    check(bounds_.cover, "cover", no_swap);
    check(bounds_.fluid_swap, "fluid, swap only", no_recompute);
    check(bounds_.fluid, "fluid", true);
    return beaten;
  }

 private:
  Gaps gaps_;
  Bytes limit_;
  Bounds bounds_;
  Lowerer lowerer_;
  Simulator simulator_;
  LoweredPlan lowered_;
  int judged_ = 0;
  std::optional<Nanoseconds> best_;
};

std::uint64_t cases() {
  const char* text = std::getenv("EBB_BOUND_CASES");
  return text ? std::strtoull(text, nullptr, 10) : 800;
}

// Few blocks with several gaps each, ops with several outputs, and peaks of workspace between the accesses:
// almost every absence is forced, so that a cost charged twice shows.
Program peaky_program(Random& random) {
  const auto n = random.between<OpIndex>(4, 10);
  std::vector<Op> ops(static_cast<std::size_t>(n));
  const Nanoseconds longest = random.chance(50) ? 5 : 60;
  for (Op& op : ops) {
    op.name = "op";
    op.duration = random.between<Nanoseconds>(0, longest);
    op.replayable = !random.chance(5);
  }
  std::vector<Block> blocks(static_cast<std::size_t>(random.between(1, 3)));
  std::vector<bool> touched(ops.size(), false);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Block& block = blocks[b];
    block.bytes = random.between<Bytes>(10, 30);
    const bool twin = b > 0 && random.chance(50);
    OpIndex first = twin ? blocks[b - 1].birth : random.between<OpIndex>(0, n - 2);
    if (first < 0 || random.chance(25)) block.lifetime = Lifetime::persistent;
    const bool local = block.lifetime == Lifetime::local;
    if (local) block.birth = block.death = first;
    const bool changes = random.chance(25);
    for (OpIndex i = local ? first : 0; i < n; ++i) {
      Access access{.block = static_cast<BlockId>(b)};
      access.writes = i == first ? local || random.chance(50) : changes && random.chance(30);
      access.reads = !access.writes || (i != first && random.chance(50));
      if (i != first && !random.chance(35)) continue;
      ops[static_cast<std::size_t>(i)].accesses.push_back(access);
      touched[static_cast<std::size_t>(i)] = true;
      if (local) block.death = i;
    }
    if (local && random.chance(20)) block.death = n - 1;
  }
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (!touched[i] || random.chance(15)) ops[i].workspace = random.between<Bytes>(60, 90);
  return Program::build({.name = "peaky", .smallest_managed = 1}, std::move(ops), std::move(blocks));
}

// Blocks that die are kept for replays, now and then.
Plan keep_some_dead(Random& random, const Program& program, const Gaps& gaps, Plan plan) {
  const OpIndex n = program.op_count();
  for (GapId g = 0; g < gaps.count(); ++g) {
    const bool dies = gaps[g].kind == GapKind::trailing && gaps[g].to < n &&
                      program.block(gaps[g].block).lifetime == Lifetime::local;
    if (!dies || random.chance(40)) continue;
    plan[g] = Decision{.action = Action::recompute, .stays = {}};
    plan[g].stays = std::vector<OpRange>{{gaps[g].from + 1, random.between<OpIndex>(gaps[g].to + 1, n)}};
  }
  return plan;
}

struct Tally {
  int plans = 0;
  int forced = 0;  // programs that fit only with something moved
  double ratio = 0;
};

void judge_all_plans(const Program& program, const Machine& machine, Bytes limit, Tally& tally,
                     std::uint64_t seed) {
  Judge judge(program, machine, limit);
  if (judge.gaps().count() > kMostGaps) return;
  Random random(seed);
  Plan plan = Plan::keep_all(judge.gaps());
  do {
    ASSERT_EQ(judge.beaten_by(plan), "") << "seed " << seed << ", limit " << limit;
    if (all_but(plan, Action::recompute) || !random.chance(30)) continue;
    const Plan longer = keep_some_dead(random, program, judge.gaps(), plan);
    ASSERT_EQ(judge.beaten_by(longer), "") << "seed " << seed << ", limit " << limit << ", kept past death";
  } while (next_plan(plan));
  tally.plans += judge.judged();
  if (!judge.best_time() || limit >= program.peak_demand()) return;
  ++tally.forced;
  const auto bound = static_cast<double>(judge.all().best(PlanKind::any).step_time.value_or(0));
  tally.ratio += bound > 0 ? static_cast<double>(*judge.best_time()) / bound : 1;
}

void report(const char* what, const Tally& tally) {
  fmt::print("{}: {} plans, {} programs in need, best plan / bound {:.4f} on average\n", what, tally.plans,
             tally.forced, tally.ratio / std::max(tally.forced, 1));
  EXPECT_GT(tally.plans, 1000);
}

TEST(Exhaustive, NoPlanOfASmallProgramBeatsABound) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= cases() && !HasFailure(); ++seed) {
    Random random(seed);
    const Program program = random_program(random);
    const Machine machine = random_machine(random);
    judge_all_plans(program, machine, random_limit(random, program), tally, seed);
  }
  report("random programs", tally);
}

TEST(Exhaustive, NoPlanOfAProgramThatMustMoveBeatsABound) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 2 * cases() && !HasFailure(); ++seed) {
    Random random(seed + 2'000'000);
    const Program program = peaky_program(random);
    Machine machine = random_machine(random);
    machine.host_bytes = 0;
    if (random.chance(50)) machine.bandwidth_out = machine.bandwidth_in / 8;
    if (random.chance(20)) machine.bandwidth_in = machine.bandwidth_out / 8 + 1;
    const Bytes limit = random.chance(70) ? smallest_limit(program) : random_limit(random, program);
    judge_all_plans(program, machine, limit, tally, seed);
  }
  report("programs that must move", tally);
}

TEST(Exhaustive, NoPlanWithTimingOfItsOwnBeatsABound) {
  int judged = 0;
  for (std::uint64_t seed = 1; seed <= cases(); ++seed) {
    Random random(seed + 1'000'000);
    const bool peaky = random.chance(50);
    const Program program = peaky ? peaky_program(random) : random_program(random);
    const Machine machine = random_machine(random);
    const Bytes limit = peaky ? smallest_limit(program) : random_limit(random, program);
    Judge judge(program, machine, limit);
    for (int i = 0; i < 40; ++i) {
      const Plan plan = random_plan(random, program, judge.gaps());
      ASSERT_EQ(judge.beaten_by(plan), "") << "seed " << seed << ", plan " << i << ", limit " << limit;
    }
    judged += judge.judged();
  }
  EXPECT_GT(judged, 1000);
}

}  // namespace
}  // namespace ebb
